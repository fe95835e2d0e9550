"""The application, for whoever starts it by `uvicorn server.app:app`; the Dockerfile starts `warroom serve`."""

from warroom.cli.app import app as command
from warroom.cli.page import page_for
from warroom.serve.access import ServerAccess
from warroom.serve.app import ServeOptions, application

serving = ServeOptions("$env", access=ServerAccess("0.0.0.0", public=True))
app = application(serving, page_for(serving))


def main() -> None:
    """Serve at port 8000."""
    command(["serve", "--env", "$env", "--page", "--public", "--host", "0.0.0.0", "--port", "8000"])


if __name__ == "__main__":
    main()
