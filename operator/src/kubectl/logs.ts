// `kubectl llm logs`: the logs of a service's newest pods for reading, with that of a run that crashed before the one that
// runs; followed, across restarts and new pods, until the reader has seen enough.

import { setTimeout as sleep } from 'node:timers/promises';
import { parseFlags, UsageError } from '../command-line.js';
import { ClusterError, clusterFlags, connect, orClusterError, type Connection } from '../kube/connect.js';
import { linesOf } from '../kube/lines.js';
import { objectPath, resources } from '../kube/resources.js';
import type { Pod } from '../kube/types.js';
import { print, styles, type Terminal } from './command.js';
import { renderLogLine, splitStamp } from './log-line.js';
import { logSources, type LogSource } from './log-sources.js';
import { isPassing } from './passing.js';
import { newestRevision, podsOf, prefillPodsOf } from './service-pods.js';
import { find } from './status.js';

const usage = `usage: kubectl llm logs NAME [options]

Prints the logs of a service's newest pods for reading: all containers, and the run before one that crashed.

  -n, --namespace NAME   (that of the context)
  -f, --follow           continue, also with pods that come later
      --tail LINES       of each (200)
      --pod NAME         this pod alone
      --all              also pods of revisions before
      --prefill          of its prefill pods
      --raw              lines as they are
      --context NAME, --kubeconfig FILE, --as USER
`;

const flags = {
  ...clusterFlags,
  follow: { type: 'boolean', short: 'f' },
  tail: { type: 'string' },
  pod: { type: 'string' },
  all: { type: 'boolean' },
  prefill: { type: 'boolean' },
  raw: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

const pollMs = 1_000;

interface Reading {
  readonly connection: Connection;
  readonly terminal: Terminal;
  readonly follow: boolean;
  readonly render: (line: string) => string;
}

/** How far the log of a run has been printed. */
interface Run {
  state: 'read' | 'broken off' | 'over';
  /** When its last line was written, as the API server says; empty: none has come. */
  until: string;
  /** What reading it ended with, so that it is printed once. */
  trouble: string;
  /** Lines of what was there before the first look; what has come since is printed whole. */
  readonly tail: number;
}
const newRun = (tail: number): Run => ({ state: 'read', until: '', trouble: '', tail });

export async function logs(args: readonly string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = parseFlags({ args: [...args], allowPositionals: true, options: flags });
  if (values.help === true) {
    terminal.stdout.write(usage);
    return 0;
  }
  const [service, ...others] = positionals;
  if (service === undefined || others.length > 0) throw new UsageError('name one service');
  const tail = Number(values.tail ?? 200);
  if (!Number.isInteger(tail) || tail < 0) throw new UsageError('--tail must be a whole number');
  const connection = connect(values);
  await find(connection, service);
  const { pod: wanted, all, prefill, follow = false, raw } = values;
  const choose = async (): Promise<Pod[]> => {
    const pods = await (prefill === true ? prefillPodsOf : podsOf)(connection, service);
    if (wanted !== undefined) return pods.filter(({ metadata }) => metadata.name === wanted);
    return all === true ? pods : newestRevision(pods);
  };
  const render = raw === true ? (line: string): string => line : renderLogLine;
  const reading = { connection, terminal, follow, render };
  const first = await choose();
  if (first.length === 0 && !follow) {
    throw new ClusterError(
      wanted === undefined
        ? `${service} has no ${prefill === true ? 'prefill ' : ''}pod; kubectl llm status ${service} says why`
        : `${service} has no pod ${wanted}`,
    );
  }
  // The oldest first, so that the newest is where one looks.
  const sources = first.reverse().flatMap(logSources);
  if (follow) return followAll(reading, tail, sources, choose);
  for (const source of sources) {
    if (sources.length > 1) announce(source, terminal);
    try {
      await printRun(source, reading, newRun(tail));
    } catch (error) {
      // Of a run before nothing may be kept; the one that runs has its log.
      if (!source.previous || !(error instanceof ClusterError)) throw error;
      complain(source, error, terminal);
    }
  }
  return 0;
}

/** Until the process is ended. */
async function followAll(
  reading: Reading,
  tailOfFirst: number,
  first: readonly LogSource[],
  choose: () => Promise<Pod[]>,
): Promise<number> {
  const runs = new Map<string, Run>();
  let sources = first;
  for (;;) {
    for (const source of sources) {
      const known = runs.get(source.key);
      if (known !== undefined && known.state !== 'broken off') continue;
      const run = known ?? newRun(sources === first ? tailOfFirst : Infinity);
      runs.set(source.key, run);
      if (known === undefined) announce(source, reading.terminal);
      const ended = followRun(source, reading, run);
      if (!source.running) await ended;
    }
    await sleep(pollMs);
    sources = await lookAgain(choose, sources);
  }
}

/** @returns those before while the API server is away */
async function lookAgain(
  choose: () => Promise<Pod[]>,
  before: readonly LogSource[],
): Promise<readonly LogSource[]> {
  try {
    return (await choose()).reverse().flatMap(logSources);
  } catch (error) {
    if (!isPassing(error)) throw error;
    return before;
  }
}

/** Resolves also where its log cannot be had. What is broken off is continued in the next round. */
async function followRun(source: LogSource, reading: Reading, run: Run): Promise<void> {
  run.state = 'read';
  let goesOn = source.running;
  try {
    await printRun(source, reading, run);
  } catch (error) {
    if (!(error instanceof ClusterError)) throw error;
    if (error.message !== run.trouble) complain(source, error, reading.terminal);
    run.trouble = error.message;
    goesOn ||= isPassing(error);
  }
  run.state = goesOn ? 'broken off' : 'over';
}

function announce({ title }: LogSource, { stderr }: Terminal): void {
  stderr.write(`${styles.dim(`== ${title}`, stderr)}\n`);
}

function complain({ pod, container }: LogSource, { message }: ClusterError, { stderr }: Terminal): void {
  stderr.write(`${styles.red(`${pod} ${container}: ${message}`, stderr)}\n`);
}

/** From where the run was printed until. @throws ClusterError */
async function printRun(source: LogSource, reading: Reading, run: Run): Promise<void> {
  const { connection, terminal, follow, render } = reading;
  const { client, namespace } = connection;
  const { until: since, tail } = run;
  const before = follow ? `${styles.dim(source.pod, terminal.stdout)} ` : '';
  await orClusterError(async () => {
    const body = await client.open({
      method: 'GET',
      path: `${objectPath(resources.pods, namespace, source.pod)}/log`,
      query: {
        container: source.container,
        previous: source.previous,
        follow: follow && source.running,
        timestamps: true,
        ...(since === '' ? {} : { sinceTime: since }),
        ...(since !== '' || tail === Infinity ? {} : { tailLines: tail }),
      },
    });
    for await (const line of linesOf(body)) {
      const { at, text } = splitStamp(line);
      // The API server counts by seconds.
      if (at !== '' && at <= since) continue;
      if (at > run.until) run.until = at;
      await print(`${before}${render(text)}\n`, terminal.stdout);
    }
  });
}
