"""The console command with the tiny game installed, in this process and in its workers."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import tiny_env

tiny_env.install()

if __name__ == "__main__":
    from warroom.__main__ import main

    main()
