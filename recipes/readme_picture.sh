#!/usr/bin/env bash
# The picture of the README: the 540 episodes of the default evaluation.
set -euo pipefail
cd "$(dirname "$0")/.."
out=$(mktemp -d)/run
.venv/bin/warroom eval --env fleet --out "$out"
cp "$out/comparison.png" docs/comparison.png
