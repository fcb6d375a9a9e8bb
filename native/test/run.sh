#!/usr/bin/env bash
# Builds the native tests under the address and undefined-behaviour sanitizers, and those of ranks under the thread
# sanitizer too, runs them all and writes their counts to one report: native/test/run.sh REPORT.json. Exit status 1 if
# any test failed.
set -euo pipefail
cd "$(dirname "$0")/../.."
report=$1
status=0
reports=.build/native-reports
rm -rf "$reports" && mkdir -p "$reports"

# build_and_run FOLDER SANITIZERS [TEST...]: all tests when none is named.
build_and_run() {
  local build=$1 sanitizers=$2
  shift 2
  cmake -S native -B "$build" -G Ninja -DBUILD_TESTS=ON -DSANITIZE="$sanitizers" >"$build.log" 2>&1 ||
    { cat "$build.log" >&2; exit 1; }
  ninja -C "$build" -j "$(nproc)" "$@"
  local tests=("${@/#/$build/}")
  # Those of GPU kernels run twice, on warps of 32 and of 64 lanes; first, since the longest are among them.
  [ $# -gt 0 ] || tests=("$build"/gpu_*_test_{64,32} "$build"/*_test)
  # Two at a time: most of a test is one thread that prepares or compares.
  printf '%s\n' "${tests[@]}" | xargs -P 2 -I TEST sh -c \
    '"$1" --gtest_brief=1 --gtest_output="json:$2-$(basename "$1").json"' sh TEST "$reports/$(basename "$build")" ||
    status=1
}

build_and_run .build/native-tests address,undefined
build_and_run .build/native-thread-tests thread parallel_group_test engine_ranks_test ops_thread_pool_test

node -e '
  const fs = require("node:fs");
  const total = { tests: 0, failures: 0, disabled: 0, skipped: 0 };
  for (const file of process.argv.slice(2)) {
    const report = JSON.parse(fs.readFileSync(file, "utf8"));
    for (const key of ["tests", "failures", "disabled"]) total[key] += report[key];
    const tests = report.testsuites.flatMap(({ testsuite }) => testsuite);
    total.skipped += tests.filter(({ result }) => result === "SKIPPED").length;
  }
  fs.writeFileSync(process.argv[1], JSON.stringify(total));
' "$report" "$reports"/*.json
exit "$status"
