"""Play the best possible game of a task on a running server: python validation/oracle.py URL SPLIT INDEX."""

import sys

from warroom.serve.checks import play_oracle

if __name__ == "__main__":
    url, split, index = sys.argv[1:]
    print(play_oracle(url, "tickets", split, int(index)).score)
