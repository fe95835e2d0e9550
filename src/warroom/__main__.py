"""`python -m warroom`: what `accelerate launch -m warroom` needs."""

from warroom.cli import main

main()
