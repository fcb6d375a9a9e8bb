# Progress for people: a line every few seconds while a step runs, and the tail of its log when it fails.
# Sourced by the scripts of this folder. All of it goes to stderr, so that a script's stdout stays its result.

say() { printf '%s  %s\n' "$(date +%H:%M:%S)" "$*" >&2; }

die() {
  say "error: $*"
  exit 1
}

# with_progress LABEL LOG COMMAND...: runs COMMAND (a program or a function) with its output in LOG. It runs in a
# subshell under errexit; do not call it from a condition, which would switch errexit off inside.
with_progress() {
  local label=$1 log=$2 started=$SECONDS reported=0 status=0 elapsed pid
  shift 2
  mkdir -p "$(dirname "$log")"
  (
    set -e
    "$@"
  ) >"$log" 2>&1 </dev/null &
  pid=$!
  while kill -0 "$pid" 2>/dev/null; do
    sleep 0.1
    elapsed=$((SECONDS - started))
    if ((elapsed >= reported + 5)); then
      reported=$elapsed
      say "$label: ${elapsed} s, $(tail -n 1 "$log" | tr -d '\r' | cut -c1-100)"
    fi
  done
  wait "$pid" || status=$?
  elapsed=$((SECONDS - started))
  if ((status != 0)); then
    say "$label failed after ${elapsed} s (exit $status). The end of $log:"
    tail -n 25 "$log" >&2
    return "$status"
  fi
  ((elapsed < 2)) || say "$label: done in ${elapsed} s"
}
