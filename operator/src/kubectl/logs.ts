// `kubectl llm logs`: the logs of a service's newest pods for reading, with that of a run that crashed before the one that
// runs; followed, across restarts and new pods, until the reader has seen enough.

import { setTimeout as sleep } from 'node:timers/promises';
import { parseFlags, UsageError } from '../command-line.js';
import { ClusterError, clusterFlags, connect, told, type Connection } from '../kube/connect.js';
import { linesOf } from '../kube/lines.js';
import { objectPath, resources } from '../kube/resources.js';
import type { Pod } from '../kube/types.js';
import { styles, type Terminal } from './command.js';
import { renderLogLine } from './log-line.js';
import { logSources, type LogSource } from './log-sources.js';
import { newestRevision, podsOf } from './service-pods.js';
import { find } from './status.js';

const usage = `usage: kubectl llm logs NAME [options]

Prints the logs of a service's newest pods for reading: all containers, and the run before one that crashed.

  -n, --namespace NAME   (that of the context)
  -f, --follow           go on, also with pods that come later
      --tail LINES       of each (200)
      --pod NAME         this pod alone
      --all              also pods of revisions before
      --raw              lines as they are
      --context NAME, --kubeconfig FILE, --as USER
`;

const flags = {
  ...clusterFlags,
  follow: { type: 'boolean', short: 'f' },
  tail: { type: 'string' },
  pod: { type: 'string' },
  all: { type: 'boolean' },
  raw: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

const pollMs = 1_000;

interface Reading {
  readonly connection: Connection;
  readonly terminal: Terminal;
  readonly tail: number;
  readonly follow: boolean;
  readonly render: (line: string) => string;
}

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
  const { pod: wanted, all, follow = false, raw } = values;
  const choose = async (): Promise<Pod[]> => {
    const pods = await podsOf(connection, service);
    if (wanted !== undefined) return pods.filter(({ metadata }) => metadata.name === wanted);
    return all === true ? pods : newestRevision(pods);
  };
  const render = raw === true ? (line: string): string => line : renderLogLine;
  const reading = { connection, terminal, tail, follow, render };
  const first = await choose();
  if (first.length === 0 && !follow) {
    throw new ClusterError(
      wanted === undefined
        ? `${service} has no pod; kubectl llm status ${service} says why`
        : `${service} has no pod ${wanted}`,
    );
  }
  // The oldest first, so that the newest is where one looks.
  const sources = first.reverse().flatMap(logSources);
  if (!follow) {
    for (const source of sources) await print(source, reading, sources.length > 1 ? '' : null);
    return 0;
  }
  return followAll(reading, choose);
}

/** Until the process is ended. */
async function followAll(reading: Reading, choose: () => Promise<Pod[]>): Promise<number> {
  const seen = new Set<string>();
  for (let round = 0; ; round += 1) {
    const sources = (await choose()).reverse().flatMap(logSources);
    for (const source of sources.filter(({ key }) => !seen.has(key))) {
      seen.add(source.key);
      // What has come since the first look is told whole.
      const told = print(source, round === 0 ? reading : { ...reading, tail: Infinity }, source.pod);
      if (source.running) void told.catch(() => undefined);
      else await told;
    }
    await sleep(pollMs);
  }
}

/** @param prefix before each line; null: not even the title is told */
async function print(source: LogSource, reading: Reading, prefix: string | null): Promise<void> {
  const { connection, terminal, tail, follow, render } = reading;
  const { client, namespace } = connection;
  const { stdout, stderr } = terminal;
  if (prefix !== null) stderr.write(`${styles.dim(`== ${source.title}`, stderr)}\n`);
  const body = await told(() =>
    client.open({
      method: 'GET',
      path: `${objectPath(resources.pods, namespace, source.pod)}/log`,
      query: {
        container: source.container,
        previous: source.previous,
        follow: follow && source.running,
        ...(tail === Infinity ? {} : { tailLines: tail }),
      },
    }),
  );
  const before = prefix === null || prefix === '' ? '' : `${styles.dim(prefix, stdout)} `;
  for await (const line of linesOf(body)) stdout.write(`${before}${render(line)}\n`);
}
