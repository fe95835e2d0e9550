#!/usr/bin/env bash
# What matters: the size of the model, the order of the curriculum, the price of rogues. One change at a time, each
# trained and evaluated on the same test incidents; a table at the end. TRAIN_SEEDS="0 1 2" for more than one training
# each, STEPS for shorter ones, WARM=FOLDER and WARM_SMALL=FOLDER to begin with the weights in them, OPTIONS for what
# all trainings share, such as "--groups 4".
# recipes/ablation.sh [OUT]
set -euo pipefail
cd "$(dirname "$0")/.."
. recipes/common.sh
out=${1:-runs/ablation}
steps=${STEPS:-160} warm=${WARM:-} warm_small=${WARM_SMALL:-}
read -ra options <<< "${OPTIONS:-}"
rising=easy:$((steps / 4)),medium:$((steps / 4)),hard:$((steps / 2))
falling=hard:$((steps / 2)),medium:$((steps / 4)),easy:$((steps / 4))

try() {  # try NAME START CURRICULUM MULTIPLIER
  train "$folder/$1" --model "$2" --seed "$seed" --curriculum "$(curriculum "$3")" --rogue-multiplier "$4" \
    ${options[@]+"${options[@]}"}
  evaluate "$folder/$1-eval" --suite full --policies "hf:$folder/$1/model"
}
for seed in ${TRAIN_SEEDS:-0}; do
  folder=$out/seed-$seed
  usual=${warm:-$folder/warm-64} small=${warm_small:-$folder/warm-32}
  if [ -z "$warm" ]; then warm_start "$usual" --hidden 64 --seed "$seed"; fi
  if [ -z "$warm_small" ]; then warm_start "$small" --hidden 32 --seed "$seed"; fi
  evaluate "$folder/warm-64-eval" --suite full --policies "hf:$usual"
  evaluate "$folder/warm-32-eval" --suite full --policies "hf:$small"
  try usual "$usual" "$rising" 1.0
  try reversed "$usual" "$falling" 1.0
  try doubled "$usual" "$rising" 2.0
  try annealed "$usual" "$rising" 2.0:1.0
  try small "$small" "$rising" 1.0
done
"$PYTHON" recipes/ablation_table.py "$out"
