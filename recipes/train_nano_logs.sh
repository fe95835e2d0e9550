#!/usr/bin/env bash
# The nano of log triage, from nothing, by imitation alone: GRPO from it made it no better. Says what it took.
# recipes/train_nano_logs.sh [OUT] [SEED]; with QUICK=1 a trial of the recipe that leaves the shipped weights alone.
set -euo pipefail
cd "$(dirname "$0")/.."
. recipes/common.sh
out=${1:-runs/nano-logs} seed=${2:-0}

steps=(--warm-steps 450)  # as the shipped ones: minutes on one core
if [ -n "$QUICK" ]; then steps=(); fi
warm_start "$out/warm" --env logs --seed "$seed" ${steps[@]+"${steps[@]}"}

# Beside the naive scripts and the expert, paired with the heuristic, on incidents that training never drew.
policies=heuristic,blame,expert,oracle,hf:$out/warm
evaluate "$out/test" --env logs --suite full --policies "$policies"

ship "$out" -logs
