"""The application, for whoever starts it by `uvicorn server.app:app`; the Dockerfile starts `warroom serve`."""

from warroom.cli import app as command
from warroom.serve.app import Serving, application

app = application(Serving("tickets"))


def main() -> None:
    """Serve at port 8000."""
    command(["serve", "--env", "tickets", "--host", "0.0.0.0", "--port", "8000"])


if __name__ == "__main__":
    main()
