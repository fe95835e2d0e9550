#!/usr/bin/env bash
# The nano's two sets of weights, from nothing: a warm start by imitation, then GRPO from it. Says what each took.
# recipes/train_nano.sh [OUT] [SEED]; with QUICK=1 a trial of the recipe that leaves the shipped weights alone.
set -euo pipefail
cd "$(dirname "$0")/.."
. recipes/common.sh
out=${1:-runs/nano} seed=${2:-0}

warm_start "$out/warm" --seed "$seed"
train "$out/grpo" --model "$out/warm" --seed "$seed" "${nano_grpo[@]}"

ship "$out"
