#!/usr/bin/env bash
# The bands of docs/experiments/2026-11-fleet-bands.md: every failure and arm, 216 incidents a tier of the test split, six policies. Seconds.
set -euo pipefail
cd "$(dirname "$0")/.."
. recipes/installed.sh
"$WARROOM" eval --env fleet --suite full --seeds 9 --split test --policies noop,random,keyword,heuristic,expert,oracle --out "${1:-runs/fleet-bands}"
