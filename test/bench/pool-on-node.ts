// An InferencePool behind a gateway that knows the kind, on the local cluster: istio's control plane from its own charts, its
// agent and the published Envoy as the gateway, and the published endpoint picker in the pod that the operator plans. Chats stay
// with a replica, a replica and the picker are killed under streams, and the pods are rolled out under them.
// usage: tsx test/bench/pool-on-node.ts, as root, once deploy/local/demo.sh operator is done; the first build of istio takes ten
// minutes of one core, the rest four. istio stays on the cluster; the operator gets its own gateway back.

import { strict as assert } from 'node:assert';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { demoModel, upload } from '../e2e/bucket.js';
import { apply, getJson, kubeconfig, kubectl, repository, signalInPod } from '../e2e/cluster.js';
import { call, chatBody, chatPath } from '../e2e/gateway.js';
import {
  conditionOf,
  makeNamespace,
  namespace,
  podsOf,
  remove,
  serviceOf,
  waitReady,
  type PodState,
} from '../e2e/service.js';
import { SteadyStreams } from '../e2e/steady-streams.js';
import { eventually } from '../processes.js';

const say = (words: string): void => void process.stdout.write(`${words}\n`);
const name = 'pooled';
const system = ['-n', 'llmservice-system'];
const replicas = 3;
const chats = 6;
const turns = 4;
/** What the published picker puts on each answer that it has seen. */
const pickersMark = 'x-went-into-resp-headers';

/** The operator's chart with these values changed; the image of the operator stays. */
function configure(values: string): void {
  const helm = join(repository, '.local/bin/helm');
  const chart = join(repository, 'charts/llmservice-operator');
  const change = ['--reuse-values', '--wait', '--timeout', '3m', '--set', values];
  execFileSync(helm, ['upgrade', 'llmservice-operator', chart, ...system, ...change], {
    env: { ...process.env, KUBECONFIG: kubeconfig },
  });
}

interface Exposed {
  readonly spec: { readonly ports: readonly { readonly port: number; readonly nodePort: number }[] };
}
interface Conditions {
  readonly conditions?: readonly { readonly type: string; readonly status: string }[];
}

async function series({ metadata }: PodState, metric: string): Promise<number> {
  const page = await kubectl([
    ...['get', '--raw', `/api/v1/namespaces/${namespace}/pods/${metadata.name}:8080/proxy/metrics`],
  ]);
  const lines = page.split('\n').filter((line) => line.startsWith(`${metric}{`));
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}
const eachPod = (metric: string): Promise<number[]> =>
  podsOf(name).then((pods) => Promise.all(pods.map((pod) => series(pod, metric))));
const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

const routed = (reason: string) =>
  eventually(
    `Routed ${reason}`,
    async () => {
      const condition = await conditionOf(name, 'Routed');
      if (condition?.reason === reason) return condition;
      throw new Error(JSON.stringify(condition));
    },
    120_000,
  );

/** A question of some 60 words that no other chat or turn has. */
const question = (chat: number, turn: number): string =>
  Array.from({ length: 60 }, (_, word) => ((chat * 100 + turn) * 7919 + word * 104_729).toString(36)).join(
    ' ',
  );

execFileSync(join(repository, 'deploy/local/cluster.sh'), ['istio'], { stdio: 'inherit' });
const picker = readFileSync(join(dirname(kubeconfig), 'endpoint-picker'), 'utf8').trim();
configure(`gateway.name=istio,endpointPicker.image=${picker}`);
try {
  const { spec } = await getJson<Exposed>(['service', 'istio-istio', ...system]);
  const port = spec.ports.find((each) => each.port === 80)?.nodePort ?? 0;
  const host = `pooled.e2e.example:${String(port)}`;
  await makeNamespace();
  const uri = await upload('demo', demoModel());
  const made = serviceOf(name, { uri }) as { spec: object };
  const routing = { host: 'pooled.e2e.example', backend: 'inferencePool' };
  const resource = { ...made, spec: { ...made.spec, replicas, routing } };
  await apply(resource);
  await waitReady(name);
  say(`Routed: ${(await routed('InferencePool')).message}`);
  const pool = await getJson<{ status: { parents: readonly Conditions[] } }>([
    ...['inferencepool', name, '-n', namespace],
  ]);
  const said = pool.status.parents.flatMap(({ conditions = [] }) => conditions);
  assert.deepEqual(said.map(({ type, status }) => `${type} ${status}`).sort(), [
    'Accepted True',
    'ResolvedRefs True',
  ]);

  const ask = async (messages: readonly object[]): Promise<string> => {
    const { status, body, headers } = await call(host, chatPath, {
      ...chatBody(''),
      messages,
      max_tokens: 8,
    });
    assert.equal(status, 200, body);
    assert.equal(headers[pickersMark], 'true', 'the picker has not seen the answer');
    const [choice] = (JSON.parse(body) as { choices: { message: { content: string } }[] }).choices;
    return choice?.message.content ?? '';
  };
  await eventually('an answer that the picker has seen', () => ask([{ role: 'user', content: 'Hello' }]));
  const kept: number[] = [];
  const before = [
    await eachPod('vllm:prompt_tokens_total'),
    await eachPod('vllm:prompt_tokens_cached_total'),
  ];
  for (let chat = 0; chat < chats; chat += 1) {
    const messages: object[] = [];
    const answered = await eachPod('vllm:request_success_total');
    for (let turn = 0; turn < turns; turn += 1) {
      messages.push({ role: 'user', content: question(chat, turn) });
      messages.push({ role: 'assistant', content: await ask(messages) });
    }
    const now = await eachPod('vllm:request_success_total');
    kept.push(Math.max(...now.map((count, pod) => count - (answered[pod] ?? 0))));
  }
  const after = [await eachPod('vllm:prompt_tokens_total'), await eachPod('vllm:prompt_tokens_cached_total')];
  const [asked = 0, cached = 0] = after.map((counts, index) => sum(counts) - sum(before[index] ?? []));
  const share = cached / asked;
  say(
    `${String(chats)} chats of ${String(turns)} turns: ${kept.join(', ')} turns of each at one of ${String(replicas)} replicas; ` +
      `${(share * 100).toFixed(0)} % of ${String(asked)} prompt tokens from caches`,
  );
  assert.ok(kept.every((count) => count === turns));
  assert.ok(share > 0.4);

  const clients = 3;
  const streams = new SteadyStreams(host, clients);
  const lost = (what: string, bound = Infinity): void => {
    const failures = streams.failures.splice(0);
    say(`${what}: ${[`${String(failures.length)} streams failed`, failures[0], failures.at(-1)].join('; ')}`);
    assert.ok(failures.length <= bound);
  };
  await streams.flow('before anything ends');
  lost('with all well', 0);

  const [killed] = await podsOf(name);
  assert.ok(killed !== undefined);
  signalInPod(killed.metadata.name, 'runtime/dist/main.js', 'SIGKILL');
  await streams.flow('after a replica is killed');
  await streams.flow('later');
  // Those that it was answering.
  lost('a replica killed', clients);
  await eventually('all replicas', () =>
    kubectl(['rollout', 'status', `deployment/${name}`, '-n', namespace]),
  );

  const uids = new Set((await podsOf(name)).map(({ metadata }) => metadata.uid));
  await apply({ ...resource, spec: { ...resource.spec, engine: { maxNumSeqs: 12 } } });
  await eventually(
    'new pods alone',
    async () => {
      const pods = await podsOf(name);
      return pods.length === replicas && pods.every(({ metadata }) => !uids.has(metadata.uid));
    },
    300_000,
  );
  await waitReady(name);
  await streams.flow('after the rollout');
  lost('a rollout', 0);

  const pickers = ['pod', '-n', namespace, '-l', `llmservice.dev/picker=${name}`];
  await kubectl(['delete', ...pickers]);
  await routed('InferencePool');
  await streams.flow('with another picker');
  // Envoy lets no request pass a picker that has gone, until the route leads to the Service.
  lost('the picker deleted');

  const [lead] = (await getJson<{ items: readonly PodState[] }>(pickers)).items;
  signalInPod(lead?.metadata.name ?? '', `--pool-name=${name}`, 'SIGKILL');
  await streams.flow('after the picker is killed');
  await routed('InferencePool');
  await streams.flow('once it is back');
  await streams.stop();
  lost('the picker killed');
} finally {
  await remove(name);
  await eventually('no pods', async () => (await podsOf(name)).length === 0, 300_000);
  configure('gateway.name=llmservice,endpointPicker.image=');
}
