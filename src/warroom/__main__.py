"""The console command and `python -m warroom`, which `accelerate launch -m warroom` needs too."""

from warroom.core.signals import exit_code, stop_in_good_order


def main() -> None:
    """The console script: a signal to stop ends it quietly even while its modules are still being loaded."""
    try:
        stop_in_good_order()
        from warroom.cli.app import main as command

        command()
    except KeyboardInterrupt as stop:
        raise SystemExit(exit_code(stop)) from None


if __name__ == "__main__":
    main()
