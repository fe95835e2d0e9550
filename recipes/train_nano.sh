#!/usr/bin/env bash
# The nano's weights, from nothing: the fleet's by imitation, then DAgger; beside it, on the second core, those of tickets
# and of logs by their own recipes. Says what each took.
# recipes/train_nano.sh [OUT] [SEED]; with QUICK=1 a trial of the recipe that leaves the shipped weights alone; with
# ONLY_FLEET=1 the fleet's alone. MINUTES are those of DAgger, MORE those of a second run of it from where the first
# ended: with rates that begin anew it accuses fewer innocents.
set -euo pipefail
cd "$(dirname "$0")/.."
. recipes/common.sh
out=${1:-runs/nano} seed=${2:-0} minutes=${MINUTES:-38} more=${MORE:-15}
if [ -n "$QUICK" ]; then minutes=0.05 more=0.05; fi
export OMP_NUM_THREADS=${OMP_NUM_THREADS:-1}  # two trainings of one thread each

# What does not need the fleet's warm start. What `make demo` begins with is a quarter of the imitation, on purpose.
others() {
  local short=(--warm-steps 140)
  if [ -n "$QUICK" ]; then short=(); fi
  warm_start "$out/start" --seed "$seed" ${short[@]+"${short[@]}"}
  if [ -n "${ONLY_FLEET:-}" ]; then return; fi
  recipes/train_nano_tickets.sh "$out-tickets" "$seed"
  recipes/train_nano_logs.sh "$out-logs" "$seed"
}

mkdir -p "$out"
echo "log of what runs beside: $out/others.log"
set -m  # a process group of its own, so that it can be ended as a whole
others > "$out/others.log" 2>&1 &
others=$!
set +m
trap 'kill -- "-$others" 2>/dev/null || true' EXIT

warm_start "$out/warm" --seed "$seed"
train_rounds "$out/dagger" --model "$out/warm" --seed "$seed" --method dagger --minutes "$minutes"
train_rounds "$out/more" --model "$out/dagger/model" --seed $((seed + 2)) --method dagger --minutes "$more"
if ! wait "$others"; then
  tail -n 20 "$out/others.log" >&2
  exit 1
fi
trap - EXIT
ship "$out" "" more "$out/dagger/model"
shipped_start "$out"
echo "seconds: $SECONDS in all"
