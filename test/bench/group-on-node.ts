// The ranks of one engine in two pods on the local cluster: LWS's real controller makes them, a real kubelet runs them from the
// runtime's image, and they meet by UCX over the pods' network and the cluster's DNS. Compared with the same ranks in one pod,
// and two stages with one; then a worker is killed while an answer streams.
// usage: tsx test/bench/group-on-node.ts, as root, once deploy/local/demo.sh operator is done; two minutes.

import { strict as assert } from 'node:assert';
import { KubeConfig } from '@kubernetes/client-node';
import { KubeClient } from '../../operator/src/kube/client.js';
import { demoModel, upload } from '../e2e/bucket.js';
import { apply, getJson, kubeconfig, nodeAddress, signalInPod } from '../e2e/cluster.js';
import { call, chatBody, chatPath, stream } from '../e2e/gateway.js';
import {
  conditionOf,
  makeNamespace,
  namespace,
  podsOf,
  remove,
  serviceOf,
  statusOf,
  waitReady,
} from '../e2e/service.js';
import { LwsController } from '../integration/lws-controller.js';
import { eventually } from '../processes.js';

const say = (words: string): void => void process.stdout.write(`${words}\n`);
const config = new KubeConfig();
config.loadFromFile(kubeconfig);
const [, network = '', last = ''] = /^(.*\.)(\d+)$/.exec(nodeAddress) ?? [];
const cluster = {
  admin: new KubeClient(config),
  kubeConfig: () => config,
  // This machine's end of the link to the node.
  callsAt: `${network}${String(Number(last) - 1)}`,
};
const hostOf = (name: string): string => `${name}.e2e.example`;

function service(name: string, uri: string, devices: number, parallelism: object): object {
  const made = serviceOf(name, { uri, host: hostOf(name) }) as { spec: object };
  return { ...made, spec: { ...made.spec, accelerator: { resourceName: 'none', devices }, parallelism } };
}

async function answer(name: string): Promise<unknown> {
  const body = chatBody('What is the capital of France?', { logprobs: true, top_logprobs: 5 });
  const { status, body: text } = await call(hostOf(name), chatPath, body);
  assert.equal(status, 200, text);
  return (JSON.parse(text) as { choices: unknown }).choices;
}
const answers = (name: string) => eventually(`an answer of ${name}`, () => answer(name), 120_000);

interface RunningPod {
  readonly metadata: { readonly name: string; readonly uid: string };
  readonly spec: { readonly nodeName?: string };
  readonly status: { readonly podIP?: string };
}
const pods = async (name: string): Promise<readonly RunningPod[]> =>
  (
    await getJson<{ items: readonly RunningPod[] }>([
      'pods',
      '-n',
      namespace,
      '-l',
      `llmservice.dev/service=${name}`,
    ])
  ).items;

await LwsController.remove(cluster);
const lws = await LwsController.start(cluster);
try {
  await makeNamespace();
  const uri = await upload('demo', demoModel());
  const answered = async (name: string, devices: number, parallelism: object): Promise<unknown> => {
    await apply(service(name, uri, devices, parallelism));
    await waitReady(name);
    const choices = await answers(name);
    await remove(name);
    return choices;
  };
  const ofOneRank = await answered('single', 1, {});
  assert.deepEqual(await answered('staged', 2, { pipeline: 2, nodes: 2 }), ofOneRank);
  say('two stages in two pods answer as one rank, log probabilities too');
  const wanted = await answered('alone', 2, {});

  await apply(service('group', uri, 2, { nodes: 2 }));
  await waitReady('group');
  for (const { metadata, spec, status } of await pods('group'))
    say(`${metadata.name} runs on ${spec.nodeName ?? ''} at ${status.podIP ?? ''}`);
  assert.deepEqual(await answers('group'), wanted);
  say(
    `two ranks in two pods answer as in one pod, log probabilities too: ${JSON.stringify(wanted).slice(0, 120)}`,
  );

  const before = new Set((await podsOf('group')).map(({ metadata }) => metadata.uid));
  const events: string[] = [];
  let killedAt = 0;
  const question = chatBody('Tell me about the project.', { max_tokens: 900, ignore_eos: true });
  for await (const { data, atMs } of stream(hostOf('group'), chatPath, question)) {
    events.push(data);
    if (events.length === 5) {
      signalInPod('group-group-0-1', 'runtime/dist/main.js', 'SIGKILL');
      killedAt = performance.now();
    }
    if (data.includes('EngineFault'))
      say(`the stream ended ${(atMs - killedAt).toFixed(0)} ms after SIGKILL: ${data}`);
  }
  assert.match(events.filter((data) => data !== '[DONE]').at(-1) ?? '', /EngineFault/);

  const lost = await eventually('the condition', async () => {
    const loaded = await conditionOf('group', 'Loaded');
    if (loaded?.reason === 'GroupRestarted') return loaded;
    throw new Error(JSON.stringify(loaded));
  });
  say(`Loaded ${lost.status} ${lost.reason}: ${lost.message}`);
  assert.match(lost.message, /group-group-0-1 \(worker 1\)/);
  // A container that is asked to end before its program has begun is killed at the end of its grace period.
  await eventually(
    'two new pods',
    async () => {
      const now = (await podsOf('group')).map(({ metadata }) => metadata.uid);
      return now.length === 2 && now.every((uid) => !before.has(uid));
    },
    300_000,
  );
  await waitReady('group');
  assert.deepEqual(await answers('group'), wanted);
  say(
    `the group is there anew and answers as before; last failure: ${JSON.stringify((await statusOf('group'))?.lastFailure ?? null)}`,
  );
} catch (error) {
  say(lws.log().slice(-4_000));
  throw error;
} finally {
  await remove('single', 'staged', 'alone', 'group');
  await eventually('no pods', async () => (await podsOf('group')).length === 0, 300_000);
  await LwsController.remove(cluster);
  await lws.stop();
  cluster.admin.close();
}
