// Prefill and decode apart on the local cluster: decode pods find two prefill pods by the cluster's DNS, send them long prompts,
// and answer as a service without them. Then a prefill pod is killed among prompts, all are scaled away, and the field goes.
// usage: tsx test/bench/disaggregation-on-node.ts, as root, once deploy/local/demo.sh operator is done; four minutes.

import { strict as assert } from 'node:assert';
import { demoModel, upload } from '../e2e/bucket.js';
import { apply, getJson, kubectl, signalInPod } from '../e2e/cluster.js';
import { call } from '../e2e/gateway.js';
import {
  fromPod,
  makeNamespace,
  namespace,
  podOf,
  podsOf,
  remove,
  serviceOf,
  statusOf,
  waitReady,
  type PodState,
} from '../e2e/service.js';
import { eventually } from '../processes.js';

const say = (words: string): void => void process.stdout.write(`${words}\n`);
const hostOf = (name: string): string => `${name}.e2e.example`;
const long = (about: string): string => `${about}. ${'What is the capital of France? Paris. '.repeat(20)}`;
const prompts = Array.from({ length: 8 }, (_, i) => long(`Question ${String(i)}`));
const apart = { prefill: { replicas: 2 }, minPromptTokens: 64 };

function service(name: string, uri: string, more: object = {}): object {
  const made = serviceOf(name, { uri, host: hostOf(name) }) as { spec: object };
  return { ...made, spec: { ...made.spec, ...more } };
}

async function answer(name: string, prompt: string): Promise<unknown> {
  const body = { model: 'demo', prompt, temperature: 0, max_tokens: 12, ignore_eos: true, logprobs: 5 };
  const { status, body: text } = await call(hostOf(name), '/openai/v1/completions', body);
  assert.equal(status, 200, text);
  return (JSON.parse(text) as { choices: unknown }).choices;
}
const routed = (name: string) => eventually(`an answer of ${name}`, () => answer(name, 'A'), 120_000);

const prefillPods = async (): Promise<readonly PodState[]> => {
  const selector = 'llmservice.dev/prefill=apart';
  return (await getJson<{ items: readonly PodState[] }>(['pods', '-n', namespace, '-l', selector])).items;
};
const patch = (spec: object): Promise<string> =>
  kubectl(['patch', 'llm', 'apart', '-n', namespace, '--type=merge', '-p', JSON.stringify({ spec })]);

/** Of all series of a name. */
async function metric(pod: PodState, name: string): Promise<number> {
  const lines = (await fromPod(pod, '/metrics')).split('\n').filter((line) => line.startsWith(`${name}{`));
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}
async function fallbacks(pod: PodState): Promise<string> {
  const found = (await fromPod(pod, '/metrics')).matchAll(/prefill_fallbacks_total{.*reason="(\w+)"} (\d+)/g);
  const counts = [...found].filter(([, , count]) => count !== '0');
  return counts.map(([, reason = '', count = '']) => `${reason} ${count}`).join(', ') || 'none';
}

let asked = 0;
/** Prompts that no cache has, one after the other, until it has come to be. @returns their number; none failed */
async function promptsUntil(what: string, holds: () => Promise<boolean>): Promise<number> {
  const first = asked;
  const deadline = Date.now() + 180_000;
  while (!(await holds())) {
    assert.ok(Date.now() < deadline, `${what} did not come`);
    await answer('apart', long(`Another ${String(asked++)}`));
  }
  return asked - first;
}

try {
  await makeNamespace();
  const uri = await upload('demo', demoModel());
  await apply(service('plain', uri));
  await waitReady('plain');
  await routed('plain');
  const wanted: unknown[] = [];
  for (const prompt of prompts) wanted.push(await answer('plain', prompt));
  await remove('plain');

  await apply(service('apart', uri, { disaggregation: apart }));
  await waitReady('apart');
  await eventually(
    'two prefill pods',
    async () => (await statusOf('apart'))?.prefill?.ready === 2 || undefined,
    120_000,
  );
  await routed('apart');
  const decode = await podOf('apart');
  const came = (): Promise<number> => metric(decode, 'llmservice_prefill_prompts_total');
  await promptsUntil('a prompt of a prefill pod', async () => (await came()) > 0);
  const before = await came();
  for (const [i, prompt] of prompts.entries()) assert.deepEqual(await answer('apart', prompt), wanted[i]);
  assert.equal((await came()) - before, prompts.length);
  for (const pod of await prefillPods()) {
    const computed = await metric(pod, 'vllm:prefix_cache_queries_total');
    assert.ok(computed > 0, `${pod.metadata.name} computed nothing`);
    say(`${pod.metadata.name} computed prompts of ${String(computed)} tokens`);
  }
  say(
    `${String(prompts.length)} prompts of prefill pods are answered as without them, log probabilities too`,
  );

  const [first] = await prefillPods();
  assert.ok(first !== undefined);
  const amid = Array.from({ length: 6 }, (_, i) => answer('apart', long(`Amid ${String(i)}`)));
  signalInPod(first.metadata.name, 'runtime/dist/main.js', 'SIGKILL');
  await Promise.all(amid);
  const restarted = async (): Promise<boolean> =>
    (await prefillPods()).some(({ status }) =>
      status.containerStatuses?.some((each) => each.restartCount > 0),
    );
  const during = await promptsUntil('a restart', restarted);
  say(
    `SIGKILL of a prefill pod: none of ${String(amid.length + during)} prompts failed; fallbacks: ${await fallbacks(decode)}`,
  );

  await patch({ disaggregation: { prefill: { replicas: 0 } } });
  const leaving = await promptsUntil('no prefill pod', async () => (await prefillPods()).length === 0);
  await answer('apart', long('After'));
  say(`scaled to none: none of ${String(leaving + 1)} prompts failed; fallbacks: ${await fallbacks(decode)}`);

  await patch({ disaggregation: null });
  const left = async (): Promise<boolean> => {
    const kinds = 'deployment,service,networkpolicy,poddisruptionbudget';
    const args = [kinds, '-n', namespace, '--ignore-not-found', '-o', 'name'];
    return (await kubectl(['get', ...args])).includes('apart-prefill');
  };
  const undivided = async (): Promise<boolean> =>
    (await podsOf('apart')).every(({ metadata }) => metadata.uid !== decode.metadata.uid);
  const removing = await promptsUntil('an undivided pod', async () => !(await left()) && (await undivided()));
  await waitReady('apart');
  assert.deepEqual(await answer('apart', prompts[0]!), wanted[0]);
  say(`the field is gone, and all that came with it: none of ${String(removing + 1)} prompts failed`);
} finally {
  await remove('plain', 'apart');
}
