#!/usr/bin/env bash
# A model behind a server on this machine: 30 tickets by transformers' own server and the shipped nano, stopped by a cap,
# gone on with, and replayed from the recording without a server. A minute. recipes/llm_local.sh [OUT]
# Needs: pip install -e '.[train,llm]' 'transformers[serving]'
set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:-runs/llm-local}
. recipes/installed.sh
model=src/warroom/policies/weights/nano-tickets
rm -rf "$out" && mkdir -p "$out"
port=$("$PYTHON" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
url=http://127.0.0.1:$port

# In float32, as our own policies compute, so that both say the same.
HF_HUB_OFFLINE=1 "$(dirname "$PYTHON")/transformers" serve --device cpu --dtype float32 --host 127.0.0.1 --port "$port" \
  > "$out/server.log" 2>&1 &
server=$!
trap 'kill $server 2> /dev/null || true' EXIT
"$PYTHON" - "$url/health" << 'PYTHON'
import sys, time, urllib.request

for _ in range(240):
    try:
        urllib.request.urlopen(sys.argv[1], timeout=1)
        break
    except OSError:
        time.sleep(0.5)
else:
    sys.exit("the server does not come up; see server.log")
PYTHON

what=(--env tickets --mode single --scenarios one_article,past_case,several_articles,stale,unanswerable
  --tiers easy,medium --seeds 3)
how=(--policies "llm:$model" --temperature 0 --renderer compact --reminders 0 --max-output-tokens 20)
live=(--base-url "$url/v1" --record "$out/calls.jsonl" --out "$out/run")

echo "== 30 tickets under a cap of 1,500 tokens"
status=0
"$WARROOM" eval "${what[@]}" "${how[@]}" "${live[@]}" --max-tokens 1500 || status=$?
test "$status" -eq 3
"$PYTHON" recipes/llm_local.py spent "$out/run" 1500

echo "== the rest, under a cap of 10,000 in all"
"$WARROOM" eval "${what[@]}" "${how[@]}" "${live[@]}" --max-tokens 10000 --resume
"$PYTHON" recipes/llm_local.py spent "$out/run" 10000

echo "== the same from the recording, with the server gone"
kill "$server" && wait "$server" 2> /dev/null || true
"$WARROOM" eval "${what[@]}" "${how[@]}" --replay "$out/calls.jsonl" --out "$out/replayed"
cmp "$out/run/episodes.jsonl" "$out/replayed/episodes.jsonl" && echo "episodes.jsonl: byte for byte the same"

echo "== the same model in this process"
"$WARROOM" eval "${what[@]}" --policies "hf:$model@greedy" --out "$out/here"
"$PYTHON" recipes/llm_local.py same "$out/run" "$out/here"
