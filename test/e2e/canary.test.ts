// A canary behind a real gateway: it answers its share, takes over and goes back, and clients notice neither.

import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { eventually } from '../processes.js';
import { demoModel, upload } from './bucket.js';
import { apply, kubectl } from './cluster.js';
import { call } from './gateway.js';
import { makeNamespace, namespace, podsOf, remove, serviceOf, statusOf, waitReady } from './service.js';
import { SteadyStreams } from './steady-streams.js';

jest.setTimeout(300_000);
const host = 'canary.e2e.example';
const clients = 16;

beforeAll(async () => {
  await makeNamespace();
  const engine = { maxNumSeqs: clients };
  const service = serviceOf('canary', { uri: await upload('demo', demoModel()), host, engine }) as {
    spec: object;
  };
  await apply({
    ...service,
    spec: { ...service.spec, canary: { steps: [{ weight: 25, mirrorPercent: 10 }] } },
  });
  await waitReady('canary');
  await eventually('the route', async () => (await call(host, '/v1/models')).status === 200, 60_000);
});
afterAll(() => remove('canary'));

const patch = (change: object) =>
  kubectl(['patch', 'llm', 'canary', '-n', namespace, '--type', 'merge', '-p', JSON.stringify(change)]);
/** Only pods of the second revision know this name of the model. */
const change = (aliases: readonly string[] | null) => patch({ spec: { model: { aliases } } });
const phase = async (): Promise<string | undefined> => (await statusOf('canary'))?.canary?.phase;

/** Whose answer it is. */
async function isOfCanary(header?: 'always' | 'never'): Promise<boolean> {
  const chosen = header === undefined ? {} : { 'x-llmservice-canary': header };
  const { status, body } = await call(host, '/v1/models', undefined, chosen);
  if (status !== 200) throw new Error(`${String(status)} ${body}`);
  return body.includes('"second"');
}

async function answers(count: number, header?: 'always' | 'never'): Promise<number> {
  let found = 0;
  for (let asked = 0; asked < count; asked += 1) found += (await isOfCanary(header)) ? 1 : 0;
  return found;
}

const routed = () =>
  eventually('requests at the canary', async () => (await answers(5, 'always')) === 5, 60_000);

test('going back takes its requests and then its pod, and no stream is cut', async () => {
  const stable = await podsOf('canary');
  const streams = new SteadyStreams(host, clients);
  await streams.flow('before the change');
  await change(['second']);
  await eventually('the step', async () => (await phase()) === 'step', 120_000);
  await routed();
  await streams.flow('beside the canary');
  await change(null);
  await eventually('its end', async () => (await phase()) === undefined, 120_000);
  await streams.flow('after it');
  await streams.stop();
  expect(streams.failures).toEqual([]);
  expect((await podsOf('canary')).map(({ metadata }) => metadata.uid)).toEqual(
    expect.arrayContaining(stable.map(({ metadata }) => metadata.uid)),
  );
  await waitReady('canary');
});

test('a change answers its share, then all, by the pod that was tried, and no stream is cut', async () => {
  const [old] = await podsOf('canary');
  const streams = new SteadyStreams(host, clients);
  await streams.flow('before the change');
  await change(['second']);
  await eventually('the step', async () => (await phase()) === 'step', 120_000);
  await routed();
  expect(await answers(20, 'never')).toBe(0);
  // A quarter of 200: five standard deviations to both sides.
  const share = await answers(200);
  expect(share).toBeGreaterThan(20);
  expect(share).toBeLessThan(80);
  const tried = (await podsOf('canary')).find(({ metadata }) => metadata.uid !== old?.metadata.uid);
  const revision = (await statusOf('canary'))?.canary?.revision ?? '';
  await patch({ metadata: { annotations: { 'llmservice.dev/promote': revision } } });
  await waitReady('canary');
  await eventually('one pod', async () => (await podsOf('canary')).length === 1, 180_000);
  await streams.flow('after the promotion');
  await streams.stop();
  expect(streams.failures).toEqual([]);
  expect((await podsOf('canary'))[0]?.metadata.uid).toBe(tried?.metadata.uid);
  expect(await answers(20)).toBe(20);
});
