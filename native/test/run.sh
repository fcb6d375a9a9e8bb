#!/usr/bin/env bash
# Runs native tests as build.sh builds them, and writes counts and the names of what failed to one report:
# [QUICK=1] native/test/run.sh REPORT.json gpu|others. `gpu` are those on an emulated GPU but those of ranks, `others` all others.
# Exit status 1 if any test failed.
set -euo pipefail
cd "$(dirname "$0")/../.."
native/test/build.sh
report=$1 part=$2
status=0
reports=.build/native-reports/$part
matching=-P
[[ $part == others ]] && matching=-vP
rm -rf "$reports" && mkdir -p "$reports"

# Tests for GPU kernels are there twice, on warps of 32 and of 64 lanes; first, since the longest are among them, as those of
# groups are, which wait for limits of time most of theirs: each copy beside other tests, not beside the other copy. Then the
# longest of the others. One more at a time than there are processors: most of a test is one thread that prepares or compares.
# What hangs is ended, and has no report then.
shopt -s nullglob
built=.build/native-${QUICK:+quick-}tests
threads=.build/native-${QUICK:+quick-}thread-tests
printf '%s\n' "$threads"/parallel_group_test "$built"/gpu_*_test_{64,32} "$built"/ops_attention_test "$threads"/*_test "$built"/{parallel_group,ops_matmul,engine_constraint}_test "$built"/*_test |
  awk '!seen[$0]++' | grep "$matching" '/gpu_(?!.*ranks)' | xargs -P $(($(nproc) + 1)) -I TEST sh -c \
  'timeout --kill-after 5 1800 "$1" --gtest_brief=1 \
    --gtest_output="json:$2/$(basename "$(dirname "$1")")-$(basename "$1").json" || { echo "failed: $1" && exit 1; }' \
  sh TEST "$reports" ||
  status=1

node -e '
  const fs = require("node:fs");
  const total = { tests: 0, failures: 0, disabled: 0, skipped: 0, failed: [] };
  for (const file of process.argv.slice(2)) {
    const report = JSON.parse(fs.readFileSync(file, "utf8"));
    for (const key of ["tests", "failures", "disabled"]) total[key] += report[key];
    const tests = report.testsuites.flatMap(({ testsuite }) => testsuite);
    total.skipped += tests.filter(({ result }) => result === "SKIPPED").length;
    for (const test of tests.filter(({ failures }) => failures))
      total.failed.push(`${file}: ${test.classname}.${test.name}: ${test.failures[0].failure}`);
  }
  fs.writeFileSync(process.argv[1], JSON.stringify(total));
' "$report" "$reports"/*.json
exit "$status"
