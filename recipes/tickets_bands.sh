#!/usr/bin/env bash
# The ticket desk's bands: 504 tickets a split over all kinds and tiers, ten policies, both modes. Minutes.
# recipes/tickets_bands.sh [OUT]; fewer: SEEDS=2, one split alone: SPLITS=test, and MODES=single
set -euo pipefail
cd "$(dirname "$0")/.."
. recipes/installed.sh
out=${1:-runs/tickets-bands}
policies=random,noop,always_escalate,paste_top,dump_all,heuristic,sure,modest,expert,oracle
for split in ${SPLITS:-test dev train}; do
  for mode in ${MODES:-single multi}; do
    folder=$out/$split-$mode
    if [ ! -f "$folder/summary.json" ]; then
      resume=
      if [ -f "$folder/run.json" ]; then resume=--resume; fi
      "$WARROOM" eval --env tickets --suite full --mode "$mode" --split "$split" --seeds "${SEEDS:-21}" \
        --policies "$policies" --workers "${WORKERS:-1}" --out "$folder" $resume > /dev/null
    fi
    "$PYTHON" recipes/tickets_table.py "$folder"
  done
done
