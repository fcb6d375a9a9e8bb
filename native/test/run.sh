#!/usr/bin/env bash
# Builds the native tests under the address and undefined-behaviour sanitizers, runs them all and writes their
# counts to one report: native/test/run.sh REPORT.json. Exit status 1 if any test failed.
set -euo pipefail
cd "$(dirname "$0")/../.."
report=$1
build=.build/native-tests

cmake -S native -B "$build" -G Ninja -DBUILD_TESTS=ON -DSANITIZE=address,undefined >"$build.log" 2>&1 ||
  { cat "$build.log" >&2; exit 1; }
ninja -C "$build" -j "$(nproc)"

mkdir -p "$build/reports" && rm -f "$build"/reports/*.json
status=0
for test in "$build"/*_test; do
  "$test" --gtest_brief=1 --gtest_output="json:$build/reports/$(basename "$test").json" || status=1
done
node -e '
  const fs = require("node:fs");
  const total = { tests: 0, failures: 0, disabled: 0 };
  for (const file of process.argv.slice(2)) {
    const report = JSON.parse(fs.readFileSync(file, "utf8"));
    for (const key of Object.keys(total)) total[key] += report[key];
  }
  fs.writeFileSync(process.argv[1], JSON.stringify(total));
' "$report" "$build"/reports/*.json
exit "$status"
