# What the recipes of the nano share. Sourced, not run: the folder and `set -euo pipefail` are the caller's.
# A run that came to its end is left alone, one that was cut goes on, and each says how long it took.
. recipes/installed.sh
QUICK=${QUICK:-}  # QUICK=1 makes everything tiny: whether a recipe works, not what comes out

# train FOLDER OPTIONS... ; by GRPO
train() {
  run train "$@" ${QUICK:+--groups 2 --group-size 4 --rehearse 0 --min-calls 0 --min-entropy 0}
}

# train_rounds FOLDER OPTIONS... ; by DAgger or forks
train_rounds() {
  run train "$@" ${QUICK:+--rehearse 0}
}

# evaluate FOLDER OPTIONS... ; on the test split
evaluate() {
  run eval "$@" --split test --seeds "$seeds"
}

# warm_start FOLDER OPTIONS... ; a nano from nothing
warm_start() {
  local folder=$1
  shift
  timed "warm start $folder" "$WARROOM" train --model nano --from-scratch --only-warm-start --out "$folder" \
    ${QUICK:+--warm-steps 20} "$@"
}

# shipped_start OUT ; puts OUT/start where it ships with the package
shipped_start() {
  local shipped=src/warroom/policies/weights
  if [ -n "$QUICK" ]; then shipped=$1/shipped; fi
  rm -rf "$shipped/nano-start"
  cp -R "$1/start" "$shipped/nano-start"
}

# ship OUT [-ENV] [RUN] [VIA] ; puts OUT/warm and OUT/RUN/model where they ship with the package, under the environment's names;
# without a RUN the warm start stands for both. VIA is a model between the two, which the card does not name
ship() {
  local out=$1 of=${2:-} run=${3:-} via=${4:-} shipped=src/warroom/policies/weights
  if [ -n "$QUICK" ]; then shipped=$out/shipped; fi
  mkdir -p "$shipped"
  rm -rf "$shipped/nano-warm$of" "$shipped/nano$of"
  cp -R "$out/warm" "$shipped/nano-warm$of"
  if [ -z "$run" ]; then
    cp -R "$out/warm" "$shipped/nano$of"
  else
    cp -R "$out/$run/model" "$shipped/nano$of"
    # The card speaks of the run's folder; here the models are called by their names.
    sed -i.bak -e "s#hf:$out/$run/model#nano#g" -e "s#hf:$out/warm#nano-warm#g" -e "s#\`$out/warm\`#\`nano-warm\`#g" -e "s/^# $run\$/# nano/" \
      ${via:+-e "s#\`$via\`#\`nano-warm\` in two runs#g"} \
      "$shipped/nano$of/README.md" && rm "$shipped/nano$of/README.md.bak"
  fi
  du -sh "$shipped"/*
}

run() {
  local verb=$1 folder=$2 resume=
  shift 2
  if [ -f "$folder/summary.json" ]; then
    echo "whole already: $folder"
    return
  fi
  if [ -f "$folder/run.json" ]; then resume=--resume; fi
  timed "$verb $folder" "$WARROOM" "$verb" --out "$folder" $resume "$@"
}

timed() {
  local what=$1 begin=$SECONDS
  shift
  "$@"
  echo "seconds: $((SECONDS - begin)) for $what"
}

# A curriculum of few steps in quick mode, else the one that is given.
curriculum() {
  if [ -n "$QUICK" ]; then echo "$1" | sed -E 's/:[0-9]+/:1/g'; else echo "$1"; fi
}

seeds=${SEEDS:-9}  # of each scenario and tier: 216 incidents a tier of the full suite
if [ -n "$QUICK" ]; then seeds=1; fi

# How the nano learns by GRPO: mostly in the two seats that can see, where rollouts of one incident differ most, and hotter
# than it plays, since at temperature 1 a good start earns the same in 85 % of groups, at 1.5 in 35 % (docs/experiments/2026-11-nano-grpo-strong-start.md).
nano_grpo=(--groups 12 --learning-rate 7e-4 --schedule linear --temperature 1.5
  --seats oversight,sre,oversight,sre,oversight,sre,oversight,sre,oversight,sre,developer,manager
  --curriculum "$(curriculum medium:15,hard:30)")
