#!/usr/bin/env bash
# Does GRPO teach, or does the harness? A seat is trained beside expert colleagues, from a start that imitation was given
# too little time for, and plays unseen incidents of the test beside such colleagues: three seeds of the real run and of
# one whose rewards are shuffled among rollouts, and one whose weights are frozen. Differences to the start are paired.
# recipes/nano_controls.sh [OUT]; SEAT=oversight for another seat.
set -euo pipefail
cd "$(dirname "$0")/.."
. recipes/common.sh
out=${1:-runs/nano-controls} seat=${SEAT:-sre}
how=(--seats "$seat" --teammates expert --groups 12 --learning-rate 5e-4 --temperature 1.0 --rehearse 0
  --curriculum "$(curriculum easy:10,medium:20,hard:30)")

warm_start "$out/start" --warm-steps 700
evaluate "$out/start-eval" --suite full --policies "$seat=hf:$out/start@sampled,rest=expert"
for run in none-0 shuffled-reward-0 frozen-0 none-1 shuffled-reward-1 none-2 shuffled-reward-2; do
  control=${run%-*} folder=$out/$run more=
  if [ "$control" != none ]; then more="--control $control"; fi
  train "$folder" --model "$out/start" --seed "${run##*-}" "${how[@]}" $more
  evaluate "$folder-eval" --suite full --policies "$seat=hf:$folder/model@sampled,rest=expert"
  "$WARROOM" compare "$out/start-eval" "$folder-eval" --json > "$folder-eval/against-start.json"
done
"$PYTHON" recipes/compared_table.py "$out"
