#!/usr/bin/env bash
# Schemathesis against /openapi.json of a server with the demo model: generated requests, right and wrong by the
# document, to every route. Fails on a server error, and on an answer that is not as the document says.
# One worker: with more, some releases of Python fail in the tool itself.
# usage: schemathesis.sh [CASES_PER_ROUTE]   (what is built must be; Python >= 3.10 must be there)
set -euo pipefail

cases=${1:-100}
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
venv=$root/.local/schemathesis
reports=$root/.build/reports/schemathesis
port=${PORT:-18089}

if [[ ! -f $venv/done ]]; then
  python3 -m venv "$venv"
  "$venv/bin/pip" install --quiet --require-hashes --requirement "$root/test/conformance/requirements.txt"
  touch "$venv/done"
fi

mkdir -p "$reports"
node "$root/cli/bin/llmservice.js" serve --model "$root/deploy/demo-model/checkpoint" --name demo \
  --port "$port" >"$reports/server.log" 2>&1 &
server=$!
trap 'kill "$server" 2>/dev/null || true' EXIT
for _ in $(seq 120); do
  curl -fs "http://127.0.0.1:$port/health" >/dev/null && break
  kill -0 "$server" || { cat "$reports/server.log"; exit 1; }
  sleep 1
done

# Left out: positive_data_acceptance, since rules between fields, the length of the context and what a grammar can
# follow are not in the document.
cd "$reports"
export SCHEMATHESIS_HOOKS=schemathesis_hooks PYTHONPATH=$root/test/conformance PYTHONDONTWRITEBYTECODE=1
"$venv/bin/st" --config-file "$root/test/conformance/schemathesis.toml" run "http://127.0.0.1:$port/openapi.json" --exclude-checks positive_data_acceptance \
  --phases examples,coverage,fuzzing --max-examples "$cases" --continue-on-failure --workers 1 \
  --request-timeout 60 --report json --report-json-path "$reports/report.json"
