"""The console command and `python -m warroom`, which `accelerate launch -m warroom` needs too."""

INTERRUPTED = 130
"""Exit code after Ctrl-C."""


def main() -> None:
    """The console script: Ctrl-C ends it quietly even while its modules are still being loaded."""
    try:
        from warroom.cli.app import main as command

        command()
    except KeyboardInterrupt:
        raise SystemExit(INTERRUPTED) from None


if __name__ == "__main__":
    main()
