// Runs every step of `make test`, streams what it prints, counts tests and closes with one line: `N passed, N failed`.
// A check counts as one test. `--only check|native|unit|golden|integration|e2e` runs a part. Steps run in order, but those
// that may stand back, or mostly wait themselves, run alongside one that mostly waits, and are reported when they have ended.
// TEST_DEADLINE (seconds since 1970), which CI sets, is when the machine is taken away: what would not end by then is skipped,
// and counted and named as that.

import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

interface Count {
  passed: number;
  failed: number;
  skipped: number;
  /** Each failed test by its name, where the runner names it. */
  readonly failures?: readonly string[];
}

interface Step {
  readonly group: 'build' | 'check' | 'native' | 'unit' | 'golden' | 'integration' | 'e2e';
  readonly name: string;
  readonly command: string;
  /** The group that it runs alongside where that runs too: one such step after the other, at the lowest priority (but
   * integration tests, which have limits of time). */
  readonly beside?: Step['group'];
  /** What it takes on a slow machine: with less left it is skipped. */
  readonly minutes?: number;
  /** That it waits for none of those. */
  readonly atOnce?: boolean;
  /** Reads the counts of a test runner from its report; without it the step is one test. */
  readonly report?: { readonly file: string; readonly count: (report: never) => Count };
}

const reports = '.build/reports';

interface JestChoice extends Pick<Step, 'beside' | 'atOnce' | 'minutes'> {
  readonly name?: string;
  readonly options?: string;
}

// --forceExit: a handle that a test left open must not hold up the steps after it.
const jest = (
  group: Step['group'],
  workers: number,
  { name = group, options = '', ...more }: JestChoice = {},
): Step => ({
  group,
  ...more,
  name: `${name} tests`,
  command: `${more.atOnce === true ? 'LLMSERVICE_TEST_PORTS=upper ' : ''}npm test -- --selectProjects ${group} ${options} --maxWorkers ${String(workers)} --forceExit --json --outputFile ${reports}/${name}.json`,
  report: {
    file: `${reports}/${name}.json`,
    count: (r: {
      numPassedTests: number;
      numFailedTests: number;
      numPendingTests: number;
      numRuntimeErrorTestSuites: number;
      testResults: {
        name: string;
        status: string;
        message: string;
        assertionResults: { fullName: string; status: string; failureMessages: string[] }[];
      }[];
    }) => ({
      passed: r.numPassedTests,
      failed: r.numFailedTests + r.numRuntimeErrorTestSuites,
      skipped: r.numPendingTests,
      failures: r.testResults
        .filter(({ status }) => status === 'failed')
        .flatMap(({ name, message, assertionResults }) => {
          const failed = assertionResults.filter(({ status }) => status === 'failed');
          const file = relative('.', name);
          if (failed.length === 0) return [`${file}: ${firstLines(message)}`];
          return failed.map(
            ({ fullName, failureMessages }) =>
              `${file}: ${fullName}: ${failureMessages.map(firstLines).join('; ')}`,
          );
        }),
    }),
  },
});

/** What a failure says before its stack, on one line. */
const firstLines = (message: string): string =>
  stripVTControlCharacters(message)
    .split(/\n\s+at /, 1)[0]!
    .replaceAll(/\s+/g, ' ')
    .slice(0, 400);

const only = process.argv.includes('--only') ? process.argv[process.argv.indexOf('--only') + 1] : undefined;
/** Parts that run by themselves are whole; where everything runs, native tests and kernels are a subset (CONTRIBUTING.md). */
const isWhole = only !== undefined;
const quick = isWhole ? '' : 'QUICK=1 ';

/** @param part of native/test/run.sh */
const nativeTests = (name: string, part: string, beside: Step['group']): Step => ({
  group: 'native',
  name: `${name}, sanitized`,
  beside,
  command: `${quick}native/test/run.sh ${reports}/native-${part}.json ${part}`,
  report: {
    file: `${reports}/native-${part}.json`,
    count: (r: { tests: number; failures: number; disabled: number; skipped: number; failed: string[] }) => ({
      passed: r.tests - r.failures - r.disabled - r.skipped,
      failed: r.failures,
      skipped: r.disabled + r.skipped,
      failures: r.failed,
    }),
  },
});

const cores = availableParallelism();

/** Integration tests that wait most: for leases, for API servers that are away, for pods. On processors they take little. */
const waiting =
  'integration/operator-(failures|fallback|hpa|lifecycle|load|namespaces|outages|rollback|rollout|scaling)';

const steps: readonly Step[] = [
  { group: 'build', name: 'type check and build', command: 'npm run build' },
  { group: 'build', name: 'native addon', command: 'npm run build:native' },
  { group: 'check', name: 'lint', command: 'npm run lint', beside: 'integration' },
  { group: 'check', name: 'format', command: 'npm run format:check', beside: 'integration' },
  {
    group: 'check',
    name: 'C++ format',
    command:
      "git ls-files 'native/*.h' 'native/*.cc' 'native/*.cpp' 'native/*.cu' | xargs clang-format --dry-run -Werror",
  },
  { group: 'check', name: 'commit subjects', command: 'test/commit-subjects.sh' },
  { group: 'check', name: 'layers and cycles', command: 'npm run layers' },
  { group: 'check', name: 'dead code', command: 'npm run deadcode' },
  { group: 'check', name: 'file lengths', command: 'npm run lengths' },
  { group: 'check', name: 'retired words', command: 'npm run words' },
  { group: 'check', name: 'generated files fresh', command: 'npm run generate -- --check' },
  { group: 'check', name: 'charts and manifests', command: 'charts/check.sh' },
  {
    group: 'check',
    name: 'hosted workflows',
    command: '"$(deploy/local/tools/build.sh actionlint)"/actionlint',
  },
  {
    group: 'check',
    name: 'packages as locked',
    command: 'npx tsx test/supply-chain/locked-install.ts',
  },
  { group: 'check', name: 'licences', command: 'npx tsx test/supply-chain/licences.ts' },
  { group: 'check', name: 'known vulnerabilities', command: 'test/supply-chain/audit.sh' },
  {
    group: 'check',
    name: isWhole ? 'kernels for every GPU' : 'kernels for a GPU of each vendor',
    command: `npx tsx test/gpu/check.ts${isWhole ? '' : ' --quick'}`,
    beside: 'integration',
    atOnce: true,
  },
  {
    group: 'native',
    name: 'sanitized build',
    command: `${quick}native/test/build.sh`,
    beside: 'integration',
  },
  nativeTests('native tests on the emulated GPU', 'gpu', 'integration'),
  // Those with ranks not beside the integration tests, which measure what ranks leave in shared memory.
  nativeTests('native tests', 'others', 'e2e'),
  jest('unit', cores),
  jest('golden', 1, { beside: 'e2e' }),
  jest('integration', 1, {
    name: 'waiting-integration',
    options: `--testPathPatterns '${waiting}'`,
    beside: 'integration',
    atOnce: true,
  }),
  jest('integration', 1, { options: `--testPathPatterns '^(?!.*${waiting})'` }),
  jest('e2e', 1, { minutes: 17 }),
];

const secondsLeft = (): number => {
  const deadline = process.env['TEST_DEADLINE'];
  return deadline === undefined ? Infinity : Math.floor(Number(deadline) - Date.now() / 1000);
};

interface RunChoice {
  readonly output?: 'inherit' | number;
  readonly niceness?: number;
  /** After which it is ended. */
  readonly seconds?: number;
}

function run(
  command: string,
  { output = 'inherit', niceness = 0, seconds }: RunChoice = {},
): Promise<number> {
  return new Promise((resolve) => {
    const limit = seconds === undefined ? [] : ['timeout', '--kill-after', '10', String(seconds)];
    const shell = ['-n', String(niceness), ...limit, 'bash', '-c', `set -o pipefail; ${command}`];
    const child = spawn('nice', shell, { stdio: ['ignore', output, output] });
    child.on('close', (code) => resolve(code ?? 1));
  });
}

/** What a check exits with that cannot be made here and says why: the convention of automake's test harness. */
const skippedCode = 77;

/** What timeout(1) exits with when it ends a program. */
const outOfTimeCode = 124;
const outOfTime: Count = {
  passed: 0,
  failed: 0,
  skipped: 1,
  failures: ['skipped, and none of it counted: no time left on this machine'],
};

/** Counts of a step; a runner that failed without saying which test is one failure. */
function countOf(step: Step, exitCode: number): Count {
  const asOne: Count = {
    passed: exitCode === 0 ? 1 : 0,
    failed: exitCode === 0 || exitCode === skippedCode ? 0 : 1,
    skipped: exitCode === skippedCode ? 1 : 0,
  };
  if (step.report === undefined) return asOne;
  try {
    const count = step.report.count(JSON.parse(readFileSync(step.report.file, 'utf8')) as never);
    return exitCode !== 0 && count.failed === 0 ? { ...count, failed: 1 } : count;
  } catch {
    return { passed: 0, failed: 1, skipped: 0 };
  }
}

const chosen = steps.filter((step) => only === undefined || step.group === only || step.group === 'build');
const isBeside = ({ beside }: Step): boolean => chosen.some(({ group }) => group === beside);
rmSync(reports, { recursive: true, force: true });
mkdirSync(reports, { recursive: true });

const clusterWasUp = (await run('deploy/local/cluster.sh status >/dev/null 2>&1')) === 0;
const total = { passed: 0, failed: 0, skipped: 0 };
const lines: string[] = [];
const startedAt = Date.now();

/** Resolves with whether the step passed, or was skipped since no time is left for it. */
async function take(step: Step, start: () => Promise<number>): Promise<boolean> {
  const stepStartedAt = Date.now();
  const hasTime = secondsLeft() > 60 * (step.minutes ?? 0);
  const exitCode = hasTime ? await start() : outOfTimeCode;
  const count = exitCode === outOfTimeCode ? outOfTime : countOf(step, exitCode);
  total.passed += count.passed;
  total.failed += count.failed;
  total.skipped += count.skipped;
  const seconds = ((Date.now() - stepStartedAt) / 1000).toFixed(1);
  lines.push(
    `${count.failed > 0 ? 'FAILED' : count.passed > 0 ? 'ok    ' : 'skipped'} ${step.name} (${String(count.passed)} passed, ${String(count.failed)} failed, ${seconds} s)`,
  );
  console.log(lines.at(-1));
  lines.push(...(count.failures ?? []).map((failure) => `         ${failure.replaceAll('\n', ' ')}`));
  return exitCode === 0 || exitCode === outOfTimeCode;
}

async function runBeside(besides: readonly Step[]): Promise<void> {
  for (const step of besides) {
    console.log(`\n== beside it: ${step.name}: ${step.command}`);
    const log = `${reports}/${step.name.replaceAll(/\W+/g, '-')}.log`;
    const file = openSync(log, 'w');
    await take(step, async () => {
      const niceness = step.group === 'integration' ? 0 : 19;
      const seconds = secondsLeft();
      const exitCode = await run(step.command, {
        output: file,
        niceness,
        ...(Number.isFinite(seconds) && { seconds }),
      });
      // What had failed by then stays a failure.
      const hasFailed = /^(FAIL |failed: )/m.test(readFileSync(log, 'utf8'));
      if (secondsLeft() > 0) return exitCode;
      return hasFailed ? 1 : outOfTimeCode;
    });
    closeSync(file);
    console.log(readFileSync(log, 'utf8'));
  }
}

const inOrder = chosen.filter((step) => !isBeside(step));
for (const [index, step] of inOrder.entries()) {
  console.log(`\n== ${String(index + 1)}/${String(inOrder.length)} ${step.name}: ${step.command}`);
  const besides = chosen.filter(({ beside }) => beside === step.group);
  const runsBeside = Promise.all([
    runBeside(besides.filter(({ atOnce }) => atOnce !== true)),
    ...besides.filter(({ atOnce }) => atOnce === true).map((each) => runBeside([each])),
  ]);
  const passed = await take(step, () => run(step.command));
  await runsBeside;
  if (step.group === 'build' && !passed) break;
}
// A cluster that this run brought up goes away with it; one that was there is somebody's demo.
if (!clusterWasUp && chosen.some((step) => step.group === 'e2e')) await run('deploy/local/cluster.sh down');

console.log(`\n${lines.join('\n')}\ntook ${((Date.now() - startedAt) / 60_000).toFixed(1)} min\n`);
const skipped = total.skipped === 0 ? '' : `, ${String(total.skipped)} skipped`;
console.log(`${String(total.passed)} passed, ${String(total.failed)} failed${skipped}`);
process.exitCode = total.failed === 0 ? 0 : 1;
