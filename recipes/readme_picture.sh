#!/usr/bin/env bash
# The picture of the README: the core suite with its default seeds, scripts and both nanos.
set -euo pipefail
cd "$(dirname "$0")/.."
out=$(mktemp -d)/run
.venv/bin/warroom eval --env fleet --policies heuristic,nano-warm,nano,expert,oracle --out "$out"
cp "$out/comparison.png" docs/comparison.png
