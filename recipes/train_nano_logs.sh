#!/usr/bin/env bash
# The nano of log triage, from nothing: a warm start by imitation, then GRPO from it. Says what each took.
# recipes/train_nano_logs.sh [OUT] [SEED]; with QUICK=1 a trial of the recipe that leaves the shipped weights alone.
set -euo pipefail
cd "$(dirname "$0")/.."
. recipes/common.sh
out=${1:-runs/nano-logs} seed=${2:-0}

steps=(--warm-steps 450)  # as the shipped ones: minutes on one core
if [ -n "$QUICK" ]; then steps=(); fi
warm_start "$out/warm" --env logs --seed "$seed" ${steps[@]+"${steps[@]}"}
train "$out/grpo" --model "$out/warm" --seed "$seed" --groups 8 --curriculum "$(curriculum easy:6,medium:12,hard:22)"

# Beside the naive scripts and the expert, paired with the heuristic, on incidents that training never drew.
policies=heuristic,blame,expert,oracle,hf:$out/warm,hf:$out/grpo/model
evaluate "$out/test" --env logs --suite full --policies "$policies"
"$WARROOM" card "$out/grpo" --evaluation "$out/test"

ship "$out" -logs
