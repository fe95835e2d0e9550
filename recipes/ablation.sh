#!/usr/bin/env bash
# What matters: the size of the model, the order of the curriculum, the price of rogues. One change at a time, each
# trained and evaluated on the same test incidents; a table at the end. TRAIN_SEEDS="0 1 2" for more than one training each.
# recipes/ablation.sh [OUT]
set -euo pipefail
cd "$(dirname "$0")/.."
. recipes/common.sh
out=${1:-runs/ablation}
rising=easy:40,medium:40,hard:80 falling=hard:80,medium:40,easy:40

try() {  # try NAME START CURRICULUM MULTIPLIER
  train "$folder/$1" --model "$folder/$2" --seed "$seed" --curriculum "$(curriculum "$3")" --rogue-multiplier "$4"
  evaluate "$folder/$1-eval" --suite full --policies "hf:$folder/$1/model"
}
for seed in ${TRAIN_SEEDS:-0}; do
  folder=$out/seed-$seed
  for hidden in 64 32; do
    warm_start "$folder/warm-$hidden" --hidden "$hidden" --seed "$seed"
    evaluate "$folder/warm-$hidden-eval" --suite full --policies "hf:$folder/warm-$hidden"
  done
  try usual warm-64 "$rising" 1.0
  try small warm-32 "$rising" 1.0
  try reversed warm-64 "$falling" 1.0
  try doubled warm-64 "$rising" 2.0
  try annealed warm-64 "$rising" 2.0:1.0
done
"$PYTHON" recipes/ablation_table.py "$out"
