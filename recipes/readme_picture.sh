#!/usr/bin/env bash
# The picture of the README: three seeds of the full suite, scripts and both nanos.
set -euo pipefail
cd "$(dirname "$0")/.."
. recipes/installed.sh
out=$(mktemp -d)/run
"$WARROOM" eval --env fleet --suite full --seeds 3 --policies heuristic,nano-warm,nano,expert,oracle --out "$out"
cp "$out/comparison.png" docs/comparison.png
