#!/usr/bin/env bash
# The nano of the ticket desk (single turn), from nothing, by imitation alone: GRPO from it made it no better. Says what it took.
# recipes/train_nano_tickets.sh [OUT] [SEED]; with QUICK=1 a trial of the recipe that leaves the shipped weights alone.
set -euo pipefail
cd "$(dirname "$0")/.."
. recipes/common.sh
out=${1:-runs/nano-tickets} seed=${2:-0}

warm_start "$out/warm" --env tickets --seed "$seed"

# Beside the naive scripts and the expert, paired with the heuristic, on tickets that training never drew.
policies=heuristic,expert,oracle,hf:$out/warm
evaluate "$out/test" --env tickets --mode single --suite full --policies "$policies"

ship "$out" -tickets
