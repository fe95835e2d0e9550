#!/usr/bin/env bash
# The nano of the ticket desk (single turn), from nothing: a warm start by imitation, then GRPO. Says what each took.
# recipes/train_nano_tickets.sh [OUT] [SEED]; with QUICK=1 a trial of the recipe that leaves the shipped weights alone.
set -euo pipefail
cd "$(dirname "$0")/.."
. recipes/common.sh
out=${1:-runs/nano-tickets} seed=${2:-0}

warm_start "$out/warm" --env tickets --seed "$seed"
train "$out/grpo" --model "$out/warm" --seed "$seed" --groups 16 --learning-rate 7e-4 --schedule linear \
  --temperature 1.5 --rehearse 0 --confidence-steps 200 --curriculum "$(curriculum easy:20,medium:50,hard:70)"

# Beside the naive scripts and the expert, paired with the heuristic, on tickets that training never drew.
policies=heuristic,expert,oracle,hf:$out/warm,hf:$out/grpo/model
evaluate "$out/test" --env tickets --mode single --suite full --policies "$policies"
"$WARROOM" card "$out/grpo" --evaluation "$out/test"

ship "$out" -tickets
