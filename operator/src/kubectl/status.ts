// `kubectl llm status`: all services and gateways of a namespace, one of them, or a service until it is ready or has failed.

import { setTimeout as sleep } from 'node:timers/promises';
import { parseFlags, UsageError } from '../command-line.js';
import { ClusterError, clusterFlags, connect, orClusterError, type Connection } from '../kube/connect.js';
import { listIfServed } from '../kube/list-if-served.js';
import { collectionPath, objectPath, resources } from '../kube/resources.js';
import type { Terminal } from './command.js';
import {
  describeGateway,
  describeGateways,
  gatewayOutcome,
  gatewayProgress,
  type GatewayObject,
} from './gateway-text.js';
import { isPassing } from './passing.js';
import { describeService, describeServices, outcome, progress, type ServiceObject } from './status-text.js';

const usage = `usage: kubectl llm status [NAME] [options]

Says whether services and gateways of models serve, and if not why and how to fix it.

  -n, --namespace NAME     (that of the context)
  -A, --all-namespaces
  -w, --watch              follow NAME, a service or a gateway, until it is ready (exit status 0) or has failed (1)
      --timeout SECONDS    of --watch (no limit)
      --context NAME, --kubeconfig FILE, --as USER
`;

const flags = {
  ...clusterFlags,
  'all-namespaces': { type: 'boolean', short: 'A' },
  watch: { type: 'boolean', short: 'w' },
  timeout: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

const pollMs = 1_000;

export async function status(args: readonly string[], { stdout }: Terminal): Promise<number> {
  const { values, positionals } = parseFlags({ args: [...args], allowPositionals: true, options: flags });
  if (values.help === true) {
    stdout.write(usage);
    return 0;
  }
  const [name, ...others] = positionals;
  if (others.length > 0) throw new UsageError('name one service, or none for all');
  if (values.watch === true && name === undefined)
    throw new UsageError('--watch follows one service or gateway: name it');
  const seconds = values.timeout === undefined ? Infinity : Number(values.timeout);
  if (!(seconds > 0)) throw new UsageError('--timeout must be a number of seconds above zero');
  const connection = connect(values);
  if (name === undefined) {
    return list(connection, values['all-namespaces'] === true ? null : connection.namespace, stdout);
  }
  if (values.watch === true) return watch(connection, name, seconds, stdout);
  stdout.write((await look(connection, name)).text());
  return 0;
}

/** A service or a gateway as it is now. */
interface Seen {
  /** Null: it may still become ready by itself. */
  readonly end: 'ready' | 'failed' | null;
  /** What is happening. */
  readonly line: string;
  readonly text: () => string;
  /** Of the same kind. */
  readonly again: () => Promise<Seen>;
}

/** A service, or else a gateway. @throws ClusterError where there is neither */
async function look(connection: Connection, name: string): Promise<Seen> {
  try {
    return await seeService(connection, name);
  } catch (error) {
    const gateway = await seeGateway(connection, name).catch(() => null);
    if (gateway === null) throw error;
    return gateway;
  }
}

async function seeService(connection: Connection, name: string): Promise<Seen> {
  const service = await find(connection, name);
  return {
    end: outcome(service),
    line: progress(service),
    text: () => describeService(service, new Date()),
    again: () => seeService(connection, name),
  };
}

async function seeGateway(connection: Connection, name: string): Promise<Seen> {
  const { client, namespace } = connection;
  const path = objectPath(resources.llmGateways, namespace, name);
  const gateway = await orClusterError(() => client.find<GatewayObject>(path));
  if (gateway === null) throw new ClusterError(`there is no LlmGateway ${name} in namespace ${namespace}`);
  return {
    end: gatewayOutcome(gateway),
    line: gatewayProgress(gateway),
    text: () => describeGateway(gateway),
    again: () => seeGateway(connection, name),
  };
}

async function list(
  { client }: Connection,
  namespace: string | null,
  stdout: NodeJS.WriteStream,
): Promise<number> {
  const services = await orClusterError(() =>
    client.listAll<ServiceObject>(collectionPath(resources.llmServices, namespace)),
  );
  const where = namespace === null ? 'the cluster' : `namespace ${namespace}`;
  stdout.write(
    services.length === 0
      ? `There is no LlmService in ${where}.\n`
      : describeServices(services, namespace === null),
  );
  // Who may not see gateways, or has a cluster without them, asks for services.
  const gateways =
    (await listIfServed(client, collectionPath(resources.llmGateways, namespace)).catch(() => null)) ?? [];
  if (gateways.length > 0) stdout.write(`\n${describeGateways(gateways, namespace === null)}`);
  return 0;
}

/** @throws ClusterError where there is none */
export async function find({ client, namespace }: Connection, name: string): Promise<ServiceObject> {
  const service = await orClusterError(() =>
    client.find<ServiceObject>(objectPath(resources.llmServices, namespace, name)),
  );
  if (service === null) {
    throw new ClusterError(
      `there is no LlmService ${name} in namespace ${namespace}; kubectl llm status -A lists all`,
    );
  }
  return service;
}

/**
 * On a terminal one line that is rewritten, elsewhere a line per change; then all that there is to say. An API server
 * that has answered once may be away for a while.
 */
async function watch(
  connection: Connection,
  name: string,
  seconds: number,
  stdout: NodeJS.WriteStream,
): Promise<number> {
  const deadline = performance.now() + seconds * 1_000;
  let seen = await look(connection, name);
  let away: string | null = null;
  let last = '';
  for (;;) {
    const { end } = seen;
    const late = performance.now() > deadline;
    const line = away ?? seen.line;
    if (end !== null || late) {
      if (stdout.isTTY) stdout.write('\r\x1b[K');
      stdout.write(seen.text());
      return end === 'ready' ? 0 : 1;
    }
    if (stdout.isTTY) stdout.write(`\r\x1b[K${line.slice(0, (stdout.columns || 80) - 1)}`);
    else if (line !== last) stdout.write(`${line}\n`);
    last = line;
    await sleep(pollMs);
    try {
      seen = await seen.again();
      away = null;
    } catch (error) {
      if (!isPassing(error)) throw error;
      away = `The API server does not answer and is asked again: ${error.message}`;
    }
  }
}
