#!/usr/bin/env bash
# The bands of log triage: 200 incidents of each family and tier of the test split, every scripted policy. Minutes.
set -euo pipefail
cd "$(dirname "$0")/.."
. recipes/installed.sh
policies=noop,random,first_error,loudest,loudest_delta,keyword,blame,sweep,heuristic,expert,oracle
"$WARROOM" eval --env logs --suite full --seeds "${SEEDS:-200}" --split test --policies "$policies" --out "${1:-runs/logs-bands}"
