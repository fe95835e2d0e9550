#!/usr/bin/env bash
# Real alerts on real runbooks: prometheus-operator's and GitLab's. Seconds. WARROOM_REALDATA names the folder of both.
# recipes/real_runbooks.sh [OUT]
set -euo pipefail
cd "$(dirname "$0")/.."
. recipes/installed.sh
data=${WARROOM_REALDATA:-../shared/realdata}
if [ ! -d "$data" ]; then
  echo "no folder $data; say by WARROOM_REALDATA where the real data lie" >&2
  exit 2
fi
out=${1:-runs/real-runbooks}
for name in alert_runbooks gitlab_runbooks; do
  if [ ! -f "$out/$name/knowledge.json" ]; then
    "$WARROOM" import runbooks "$data/$name/kb" --out "$out/$name" > /dev/null
    "$WARROOM" import alerts "$data/$name/rules" --kb "$out/$name" > /dev/null
    # Alerts of systems that no article is about, where the collection has some.
    if grep -e '"id": "[a-z]*-ookb-' "$data/$name/tickets.jsonl" > "$out/$name-strangers.jsonl"; then
      "$WARROOM" import tickets "$out/$name-strangers.jsonl" --kb "$out/$name" \
        --map id=id,text=alert+summary+description > /dev/null
    fi
  fi
  echo "$name"
  "$PYTHON" recipes/real_runbooks.py "$out/$name"
done
