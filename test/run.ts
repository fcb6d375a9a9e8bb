// Runs every step of `make test`, streams what it prints, counts tests and closes with one line: `N passed, N failed`.
// A check counts as one test. `--only check|native|unit|golden|integration|e2e` runs a part. Steps run in order, but those
// that stand back, or mostly wait, run alongside from the beginning of a group on, and are reported when they have ended.
// TEST_DEADLINE (seconds since 1970), which CI sets, is when the machine is taken away: what would not end by then is skipped,
// and counted and named as that.

import { spawn } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, rmSync } from 'node:fs';
import { cpus } from 'node:os';

import { reports, stepsOf, type Count, type Step } from './steps.js';

/** What all processors of this machine did since it started, in milliseconds. */
function processorTimes(): { readonly idle: number; readonly all: number } {
  const times = cpus().map((cpu) => cpu.times);
  const idle = times.reduce((sum, time) => sum + time.idle, 0);
  return { idle, all: times.reduce((sum, { user, nice, sys, irq }) => sum + user + nice + sys + irq, idle) };
}

const secondsLeft = (): number => {
  const deadline = process.env['TEST_DEADLINE'];
  return deadline === undefined ? Infinity : Math.floor(Number(deadline) - Date.now() / 1000);
};

interface RunChoice {
  readonly output?: 'inherit' | number;
  readonly niceness?: number;
  /** After which it is ended. */
  readonly seconds?: number;
  /** Where the shell leaves what times(1p) says of it. */
  readonly timesFile?: string;
}

function run(
  command: string,
  { output = 'inherit', niceness = 0, seconds, timesFile = '/dev/null' }: RunChoice = {},
): Promise<number> {
  return new Promise((resolve) => {
    const limit = seconds === undefined ? [] : ['timeout', '--kill-after', '10', String(seconds)];
    const script = `set -o pipefail; trap 'LC_ALL=C times >${timesFile}' EXIT; ${command}`;
    const shell = ['-n', String(niceness), ...limit, 'bash', '-c', script];
    const child = spawn('nice', shell, { stdio: ['ignore', output, output] });
    child.on('close', (code) => resolve(code ?? 1));
  });
}

/** Processor time of a step and of all that it waited for: a server that a test ended by its own process is not in it. */
function processorSeconds(timesFile: string): number {
  const times = existsSync(timesFile) ? readFileSync(timesFile, 'utf8') : '';
  return [...times.matchAll(/(\d+)m([\d.]+)s/g)].reduce(
    (sum, [, min, s]) => sum + 60 * Number(min) + Number(s),
    0,
  );
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

const only = process.argv.includes('--only') ? process.argv[process.argv.indexOf('--only') + 1] : undefined;
const chosen = stepsOf({ isWhole: only !== undefined }).filter(
  ({ group }) => only === undefined || group === only || group === 'build',
);
/** A part has those that stand back in order: there is no time that they could fill up. */
const isBeside = ({ beside, group }: Step): boolean =>
  beside !== undefined && (only === undefined || group === 'integration');
const inOrder = chosen.filter((step) => !isBeside(step));
const besidesOf = (group: Step['group']): Step[] =>
  chosen.filter((step) => isBeside(step) && step.beside === group);

rmSync(reports, { recursive: true, force: true });
mkdirSync(reports, { recursive: true });

const clusterWasUp = (await run('deploy/local/cluster.sh status >/dev/null 2>&1')) === 0;
const total = { passed: 0, failed: 0, skipped: 0 };
const lines: string[] = [];
const startedAt = Date.now();
const timesAtStart = processorTimes();

/** Resolves with whether the step passed, or was skipped since no time is left for it. */
async function take(step: Step, start: (timesFile: string) => Promise<number>): Promise<boolean> {
  const stepStartedAt = Date.now();
  const hasTime = secondsLeft() > 60 * (step.minutes ?? 0);
  const timesFile = `${reports}/${step.name.replaceAll(/\W+/g, '-')}.times`;
  const exitCode = hasTime ? await start(timesFile) : outOfTimeCode;
  const count = exitCode === outOfTimeCode ? outOfTime : countOf(step, exitCode);
  total.passed += count.passed;
  total.failed += count.failed;
  total.skipped += count.skipped;
  const seconds = ((Date.now() - stepStartedAt) / 1000).toFixed(1);
  lines.push(
    `${count.failed > 0 ? 'FAILED' : count.passed > 0 ? 'ok    ' : 'skipped'} ${step.name} (${String(count.passed)} passed, ${String(count.failed)} failed, ${seconds} s, ${processorSeconds(timesFile).toFixed(1)} s of processors)`,
  );
  console.log(lines.at(-1));
  lines.push(...(count.failures ?? []).map((failure) => `         ${failure.replaceAll('\n', ' ')}`));
  return exitCode === 0 || exitCode === outOfTimeCode;
}

/** Each row for itself. */
async function runAllBeside(steps: readonly Step[]): Promise<void> {
  const rows = new Set(steps.map(({ row }) => row));
  await Promise.all([...rows].map((row) => runBeside(steps.filter((step) => step.row === row))));
}

async function runBeside(steps: readonly Step[]): Promise<void> {
  for (const step of steps) {
    console.log(`\n== beside it: ${step.name}: ${step.command}`);
    const log = `${reports}/${step.name.replaceAll(/\W+/g, '-')}.log`;
    const file = openSync(log, 'w');
    await take(step, async (timesFile) => {
      const niceness = step.group === 'integration' || step.group === 'e2e' ? 0 : 19;
      const seconds = secondsLeft();
      const exitCode = await run(step.command, {
        output: file,
        niceness,
        timesFile,
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

const running = new Map<Step['group'], Promise<void>>();
for (const [index, step] of inOrder.entries()) {
  console.log(`\n== ${String(index + 1)}/${String(inOrder.length)} ${step.name}: ${step.command}`);
  if (!running.has(step.group)) running.set(step.group, runAllBeside(besidesOf(step.group)));
  const passed = await take(step, (timesFile) => run(step.command, { timesFile }));
  // Integration tests of all rows come before what follows; what stands back continues until all is done.
  if (step.group === 'integration') await running.get('integration');
  if (step.group === 'build' && !passed) break;
}
await Promise.all(running.values());
// A cluster that this run brought up goes away with it; one that was there is somebody's demo.
if (!clusterWasUp && chosen.some((step) => step.group === 'e2e')) await run('deploy/local/cluster.sh down');

const times = processorTimes();
const idle = Math.round((100 * (times.idle - timesAtStart.idle)) / (times.all - timesAtStart.all));
const minutes = ((Date.now() - startedAt) / 60_000).toFixed(1);
console.log(`\n${lines.join('\n')}\ntook ${minutes} min, processors idle for ${String(idle)} % of them\n`);
const skipped = total.skipped === 0 ? '' : `, ${String(total.skipped)} skipped`;
console.log(`${String(total.passed)} passed, ${String(total.failed)} failed${skipped}`);
process.exitCode = total.failed === 0 ? 0 : 1;
