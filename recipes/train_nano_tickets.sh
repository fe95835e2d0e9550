#!/usr/bin/env bash
# The nano of the ticket desk (single turn), from nothing: a warm start by imitation, then GRPO. Says what each took.
# recipes/train_nano_tickets.sh [OUT] [SEED]; with QUICK=1 a trial of the recipe that leaves the shipped weights alone.
set -euo pipefail
cd "$(dirname "$0")/.."
. recipes/common.sh
out=${1:-runs/nano-tickets} seed=${2:-0}

warm_start "$out/warm" --env tickets --seed "$seed"
train "$out/grpo" --model "$out/warm" --seed "$seed" --groups 16 --learning-rate 7e-4 --schedule linear \
  --temperature 1.5 --rehearse 0 --curriculum "$(curriculum easy:20,medium:50,hard:70)"

# Beside the naive scripts and the expert, paired with the heuristic, on tickets that training never drew.
policies=heuristic,expert,oracle,hf:$out/warm,hf:$out/grpo/model
evaluate "$out/test" --env tickets --mode single --suite full --policies "$policies"
"$WARROOM" card "$out/grpo" --evaluation "$out/test"

shipped=src/warroom/policies/weights
if [ -n "$QUICK" ]; then shipped=$out/shipped; fi
mkdir -p "$shipped"
rm -rf "$shipped/nano-warm-tickets" "$shipped/nano-tickets"
cp -R "$out/warm" "$shipped/nano-warm-tickets"
cp -R "$out/grpo/model" "$shipped/nano-tickets"
# The card speaks of the run's folder; here the model is called by its name.
sed -i.bak -e "s#hf:$out/grpo/model#nano#g" -e "s#hf:$out/warm#nano-warm#g" -e 's/^# grpo$/# nano/' \
  "$shipped/nano-tickets/README.md" && rm "$shipped/nano-tickets/README.md.bak"
du -sh "$shipped"/*
