"""The picture of the page for the README: an incident of the fleet, played to its end by experts. Needs a Chromium.

python recipes/page_picture.py [FILE]
"""

import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from browser import open_page


def main() -> None:
    target = sys.argv[1] if len(sys.argv) > 1 else "docs/war-room.png"
    command = [sys.executable, "-m", "warroom", "ui", "--port", "0", "--no-open"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        assert server.stdout is not None
        told = re.search(r"http://\S+", server.stdout.readline())
        assert told, "the page did not come up"
        with open_page(1280, 1000) as page:
            page.goto(told.group())
            page.get_by_role("button", name="Run to the end").click()
            page.get_by_text("What would have been").wait_for(timeout=60_000)
            page.screenshot(path=target, clip={"x": 0, "y": 0, "width": 1280, "height": 1000})
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()
