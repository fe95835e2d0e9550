#!/usr/bin/env bash
# The nano's two sets of weights, from nothing: a warm start by imitation, then GRPO from it. Says what each took.
# recipes/train_nano.sh [OUT] [SEED]; with QUICK=1 a trial of the recipe that leaves the shipped weights alone.
set -euo pipefail
cd "$(dirname "$0")/.."
. recipes/common.sh
out=${1:-runs/nano} seed=${2:-0}

warm_start "$out/warm" --seed "$seed"
train "$out/grpo" --model "$out/warm" --seed "$seed" "${nano_grpo[@]}"

shipped=src/warroom/policies/weights
if [ -n "$QUICK" ]; then shipped=$out/shipped; fi
mkdir -p "$shipped"
rm -rf "$shipped/nano-warm" "$shipped/nano"
cp -R "$out/warm" "$shipped/nano-warm"
cp -R "$out/grpo/model" "$shipped/nano"
# The card speaks of the run's folder; here the model is called by its name.
sed -i.bak -e "s#hf:$out/grpo/model#nano#g" -e 's/^# grpo$/# nano/' "$shipped/nano/README.md" && rm "$shipped/nano/README.md.bak"
du -sh "$shipped"/*
