#!/usr/bin/env bash
# Does GRPO teach, or does the harness? From one warm start, three seeds each: the real run, one whose weights are frozen,
# and one whose rewards are shuffled among rollouts. All play the same test incidents; differences to the start are paired.
# recipes/nano_controls.sh [OUT]; another start: START=runs/x/warm recipes/nano_controls.sh
set -euo pipefail
cd "$(dirname "$0")/.."
. recipes/common.sh
out=${1:-runs/nano-controls} start=${START:-src/warroom/policies/weights/nano-warm}

evaluate "$out/start-eval" --suite full --policies "hf:$start@sampled"
for seed in 0 1 2; do
  for control in none frozen shuffled-reward; do
    folder=$out/$control-$seed how=
    if [ "$control" != none ]; then how="--control $control"; fi
    train "$folder" --model "$start" --seed "$seed" "${nano_grpo[@]}" $how
    evaluate "$folder-eval" --suite full --policies "hf:$folder/model@sampled"
    "$WARROOM" compare "$out/start-eval" "$folder-eval" --json > "$folder-eval/against-start.json"
  done
done
.venv/bin/python recipes/compared_table.py "$out"
