// The steps of `make test`: what each runs, beside what, and how its tests are counted (run.ts runs them).

import { availableParallelism } from 'node:os';
import { relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

export interface Count {
  passed: number;
  failed: number;
  skipped: number;
  /** Each failed test by its name, where the runner names it. */
  readonly failures?: readonly string[];
}

export interface Step {
  readonly group: 'build' | 'check' | 'native' | 'unit' | 'golden' | 'integration' | 'e2e';
  readonly name: string;
  readonly command: string;
  /** Runs alongside from the beginning of that group on: one such step after the other, at the lowest priority (but
   * integration tests and the cluster, which have limits of time). */
  readonly beside?: Step['group'];
  /** Of those that run alongside, which one it waits for: those of the same row. */
  readonly row?: string;
  /** What it takes on a slow machine: with less left it is skipped. */
  readonly minutes?: number;
  /** Reads the counts of a test runner from its report; without it the step is one test. */
  readonly report?: { readonly file: string; readonly count: (report: never) => Count };
}

export const reports = '.build/reports';

interface JestChoice extends Pick<Step, 'beside' | 'row' | 'minutes'> {
  readonly name?: string;
  /** What its command begins with. */
  readonly within?: string;
  readonly options?: string;
}

// --forceExit: a handle that a test left open must not hold up the steps after it.
const jest = (
  group: Step['group'],
  workers: number,
  { name = group, within = '', options = '', ...more }: JestChoice = {},
): Step => ({
  group,
  ...more,
  name: `${name} tests`,
  command: `${within} npm test -- --selectProjects ${group} ${options} --maxWorkers ${String(workers)} --forceExit --json --outputFile ${reports}/${name}.json`,
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

const countOfNativeTests = (r: {
  tests: number;
  failures: number;
  disabled: number;
  skipped: number;
  failed: string[];
}): Count => ({
  passed: r.tests - r.failures - r.disabled - r.skipped,
  failed: r.failures,
  skipped: r.disabled + r.skipped,
  failures: r.failed,
});

const cores = availableParallelism();

/** Servers and commands start hundreds of times: Node compiles their modules at the first of them. */
const compileCache = 'NODE_COMPILE_CACHE="$PWD/.build/compile-cache"';

/** Integration tests that wait most: for leases, for API servers that are away, for pods. On processors they take little. */
const waiting =
  'integration/operator-(failures|fallback|hpa|lifecycle|load|namespaces|outages|rollback|rollout|scaling)';
/** Half of the others: those of clusters, and of what is kept in buckets and folders. */
const clusters =
  '(integration/(activator|bad-manifests|batches|chart|crd|doctor|kube|operator|plan|pull|request-log|s3-|service-chart|stored-responses|wait|weights-cache)|attacks/(checkpoint-headers|forged-revision|node-cache|tenant-manifests))';

/** By name; in seconds each. */
const quickChecks = [
  [
    'C++ format',
    "git ls-files 'native/*.h' 'native/*.cc' 'native/*.cpp' 'native/*.cu' | xargs clang-format --dry-run -Werror",
  ],
  ['commit subjects', 'test/commit-subjects.sh'],
  ['layers and cycles', 'npm run layers'],
  ['dead code', 'npm run deadcode'],
  ['file lengths', 'npm run lengths'],
  ['retired words', 'npm run words'],
  ['generated files fresh', 'npm run generate -- --check'],
  ["cycles of the CPU backend's hot loops", 'npx tsx test/cpu/check.ts'],
  ['charts and manifests', 'charts/check.sh'],
  ['Dockerfiles', 'test/images/lint.sh'],
  ['hosted workflows', '"$(deploy/local/tools/build.sh actionlint)"/actionlint'],
  ['packages as locked', 'npx tsx test/supply-chain/locked-install.ts'],
  ['licences', 'npx tsx test/supply-chain/licences.ts'],
  ['known vulnerabilities', 'test/supply-chain/audit.sh'],
] as const;

/** @param choice whether a part runs by itself: it is whole then; else native tests and kernels are a subset (CONTRIBUTING.md) */
export function stepsOf({ isWhole }: { readonly isWhole: boolean }): readonly Step[] {
  const quick = isWhole ? '' : 'QUICK=1 ';

  /** @param part of native/test/run.sh */
  const nativeTests = (name: string, part: string): Step => ({
    group: 'native',
    name: `${name}, sanitized`,
    beside: 'unit',
    command: `${quick}native/test/run.sh ${reports}/native-${part}.json ${part}`,
    report: { file: `${reports}/native-${part}.json`, count: countOfNativeTests },
  });

  return [
    { group: 'build', name: 'type check and build', command: 'npm run build' },
    { group: 'build', name: 'native addon', command: 'npm run build:native' },
    ...quickChecks.map(([name, command]): Step => ({ group: 'check', name, command, beside: 'unit' })),
    { group: 'check', name: 'lint', command: 'npm run lint', beside: 'unit' },
    { group: 'check', name: 'format', command: 'npm run format:check', beside: 'unit' },
    {
      group: 'check',
      name: isWhole ? 'kernels for every GPU' : 'kernels for a GPU of each vendor',
      command: `npx tsx test/gpu/check.ts${isWhole ? '' : ' --quick'}`,
      beside: 'unit',
    },
    {
      group: 'native',
      name: 'sanitized build',
      command: `${quick}native/test/build.sh`,
      beside: 'unit',
    },
    nativeTests('native tests on the emulated GPU', 'gpu'),
    nativeTests('native tests', 'others'),
    jest('unit', cores),
    jest('golden', 1, { beside: 'e2e' }),
    jest('integration', 1, {
      name: 'waiting-integration',
      within: `${compileCache} LLMSERVICE_TEST_PORTS=2`,
      options: `--testPathPatterns '${waiting}'`,
      beside: 'integration',
      row: 'waiting',
    }),
    jest('integration', 1, {
      name: 'cluster-integration',
      within: `${compileCache} LLMSERVICE_TEST_PORTS=1`,
      options: `--testPathPatterns '^(?!.*${waiting}).*${clusters}'`,
      beside: 'integration',
    }),
    // While the longest row still runs.
    {
      group: 'e2e',
      name: 'local cluster',
      command: 'deploy/local/cluster.sh up',
      beside: 'integration',
    },
    // These look at all that is in /dev/shm, where ranks of other tests have theirs.
    jest('integration', 1, {
      within: `${compileCache} test/own-shared-memory.sh`,
      options: `--testPathPatterns '^(?!.*(${waiting}|${clusters}))'`,
    }),
    jest('e2e', 1, { minutes: 17 }),
  ];
}
