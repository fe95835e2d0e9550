# Sets WARROOM and PYTHON: as given, else those of .venv, else the ones on the PATH. Sourced, not run.
if [ -z "${WARROOM:-}" ]; then
  if [ -x .venv/bin/warroom ]; then
    WARROOM=.venv/bin/warroom
  elif ! WARROOM=$(command -v warroom); then
    echo "warroom is not installed; run, in a clone of the repository: pip install '.[train]'" >&2
    exit 1
  fi
fi
# The Python that warroom runs in: the script's own first line names it.
PYTHON=${PYTHON:-$(sed -n '1s/^#!//p' "$(command -v "$WARROOM")")}
