// `kubectl llm drain`: takes a pod of a service away for the maintenance of its node, or all pods of services from a node.
// Evictions go through the disruption budget one by one; what runs may finish; nobody is left without an answer unasked.

import { labels, servingName } from '@llmservice/crds';
import { parseFlags, Refusal, UsageError } from '../command-line.js';
import { ClusterError, clusterFlags, connect, orClusterError, type Connection } from '../kube/connect.js';
import { collectionPath, podKeyOf, resources } from '../kube/resources.js';
import type { Node, Pod } from '../kube/types.js';
import type { Terminal } from './command.js';
import { answeringFor, leftWithout } from './drain-rules.js';
import { describeGenerations } from './drained-generations.js';
import { evictPod } from './evict-pod.js';
import { podsOf, prefillPodsOf } from './service-pods.js';

const usage = `usage: kubectl llm drain NAME POD [options]
       kubectl llm drain --node NODE [options]

Ends a pod of a service, or all pods of services on a node (which is cordoned first), one after the other and as
disruption budgets allow. Running answers may finish; how they ended is reported. Where no other pod of the service answers,
nothing is done without --force.

      --force             also where clients would be without an answer until a new pod serves
      --timeout SECONDS   in all (3600)
  -n, --namespace NAME    (that of the context; of NAME)
      --context NAME, --kubeconfig FILE, --as USER

Exit status: 0 gone, 1 refused or not in time, 2 wrong arguments, 3 the cluster does not answer or forbids it.
`;

const flags = {
  ...clusterFlags,
  node: { type: 'string' },
  force: { type: 'boolean' },
  timeout: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

export async function drain(args: readonly string[], { stdout }: Terminal): Promise<number> {
  const { values, positionals } = parseFlags({ args: [...args], allowPositionals: true, options: flags });
  if (values.help === true) {
    stdout.write(usage);
    return 0;
  }
  const { node, force = false } = values;
  const [name, pod, ...others] = positionals;
  const seconds = Number(values.timeout ?? 3_600);
  if (!(seconds > 0)) throw new UsageError('--timeout must be a number of seconds above zero');
  if (others.length > 0 || (node === undefined ? pod === undefined : name !== undefined)) {
    throw new UsageError('name a service and one of its pods, or a node with --node');
  }
  const connection = connect(values);
  const say = (line: string): void => void stdout.write(`${line}\n`);
  const deadline = performance.now() + seconds * 1_000;
  const target =
    node === undefined ? await onePod(connection, name ?? '', pod ?? '') : await allOn(connection, node);
  refuseOutage(target, force);
  if (node !== undefined) await cordon(connection, node, say);
  for (const each of target.going) {
    const ended = await evictPod(each, answeringFor(each, target.all), {
      ...{ client: connection.client, say, deadline },
    });
    say(
      `${each.metadata.namespace ?? ''}/${each.metadata.name} is gone; its answers: ${describeGenerations(ended)}`,
    );
  }
  if (node === undefined) await sayReplacement(connection, name ?? '', target.going, say);
  else say(`node ${node} has no pod of a service; it stays cordoned until kubectl uncordon ${node}`);
  return 0;
}

interface Target {
  readonly going: readonly Pod[];
  /** Of the services that these belong to, and perhaps of others. */
  readonly all: readonly Pod[];
}

async function onePod(connection: Connection, name: string, pod: string): Promise<Target> {
  const all = [...(await podsOf(connection, name)), ...(await prefillPodsOf(connection, name))];
  const going = all.filter(({ metadata }) => metadata.name === pod);
  if (going.length > 0) return { going, all };
  const names = all.map(({ metadata }) => metadata.name);
  throw new ClusterError(
    `service ${name} has no pod ${pod} in namespace ${connection.namespace}; ` +
      (names.length === 0 ? 'it has none' : `it has ${names.join(', ')}`),
  );
}

async function allOn({ client }: Connection, node: string): Promise<Target> {
  const path = collectionPath(resources.pods, null);
  const labelSelector = `${labels.name}=${servingName}`;
  const all = await orClusterError(() => client.listAll<Pod>(path, { labelSelector }));
  return { going: all.filter(({ spec }) => spec?.nodeName === node), all };
}

/** @throws Refusal */
function refuseOutage({ going, all }: Target, force: boolean): void {
  const alone = leftWithout(going, all);
  if (force || alone.length === 0) return;
  const [first = ''] = alone;
  const [namespace, name] = first.split('/');
  throw new Refusal(
    `no other pod of ${alone.join(', ')} answers: clients would get errors until a new one has loaded. ` +
      `Have one more first (kubectl scale llm ${name ?? ''} -n ${namespace ?? ''} --replicas N, then ` +
      `kubectl llm status ${name ?? ''} -n ${namespace ?? ''} -w), or say --force`,
  );
}

async function cordon({ client }: Connection, name: string, say: (line: string) => void): Promise<void> {
  const path = `${collectionPath(resources.nodes, null)}/${encodeURIComponent(name)}`;
  const node = await orClusterError(() => client.find<Node>(path));
  if (node === null) throw new ClusterError(`there is no node ${name}`);
  if (node.spec?.unschedulable === true) return;
  await orClusterError(() =>
    client.request({
      method: 'PATCH',
      path,
      body: { spec: { unschedulable: true } },
      contentType: 'application/merge-patch+json',
    }),
  );
  say(`node ${name} is cordoned: no new pod comes to it`);
}

async function sayReplacement(
  connection: Connection,
  service: string,
  gone: readonly Pod[],
  say: (line: string) => void,
): Promise<void> {
  const [old] = gone;
  const isOfPrefill = old?.metadata.labels?.[labels.prefill] !== undefined;
  const now = await (isOfPrefill ? prefillPodsOf : podsOf)(connection, service);
  const [newest] = now.filter(({ metadata }) => metadata.uid !== old?.metadata.uid);
  const key = old === undefined ? null : podKeyOf(old);
  if (newest === undefined) {
    say(`${key ?? service} has no other pod yet; follow it with kubectl llm status ${service} -w`);
    return;
  }
  const node = newest.spec?.nodeName;
  say(
    `newest pod: ${newest.metadata.name}${node === undefined ? ', without a node yet' : ` on ${node}`}` +
      (node !== undefined && node === old?.spec?.nodeName ? ': the same node, which is not cordoned' : ''),
  );
}
