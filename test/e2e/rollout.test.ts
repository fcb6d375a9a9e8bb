// Changing and deleting a service on a real node: clients notice neither, and deletion needs nothing else to work.

import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { eventually } from '../processes.js';
import { demoModel, upload } from './bucket.js';
import { apply, clusterPart, kubectl } from './cluster.js';
import { call, chatBody, chatPath, stream } from './gateway.js';
import { makeNamespace, namespace, podsOf, remove, secret, serviceOf, waitReady } from './service.js';

jest.setTimeout(300_000);
const host = 'rollout.e2e.example';
const clients = 32;
const tokens = 60;

beforeAll(async () => {
  await makeNamespace();
  const engine = { maxNumSeqs: clients };
  await apply(serviceOf('rollout', { uri: await upload('demo', demoModel()), host, engine }));
  await waitReady('rollout');
  await eventually('the route', async () => (await call(host, '/v1/models')).status === 200, 60_000);
});
afterAll(() => remove('rollout'));

/** One answer, streamed to its end. @throws where it is not whole */
async function answer(): Promise<void> {
  const body = chatBody('Tell me about the project.', { max_tokens: tokens, ignore_eos: true });
  const events: string[] = [];
  for await (const { data } of stream(host, chatPath, body)) events.push(data);
  const finish = /"finish_reason":"(\w+)"/.exec(events.at(-2) ?? '')?.[1];
  if (events.at(-1) !== '[DONE]' || finish !== 'length')
    throw new Error(`an answer that is not whole: ${events.slice(-2).join(' ')}`);
}

test('a new revision takes over from the old under 32 streams, and not one of them is cut', async () => {
  const [old] = await podsOf('rollout');
  let answered = 0;
  let rolledOut = false;
  const failures: string[] = [];
  const client = async (): Promise<void> => {
    while (!rolledOut) {
      await answer().then(
        () => (answered += 1),
        (error: unknown) => failures.push((error as Error).message),
      );
    }
  };
  const running = Promise.all(Array.from({ length: clients }, client));
  await eventually('answers before the change', () => answered > clients);
  const change = JSON.stringify({ spec: { env: [{ name: 'REVISION', value: 'second' }] } });
  await kubectl(['patch', 'llm', 'rollout', '-n', namespace, '--type', 'merge', '-p', change]);
  await eventually(
    'the old pod to be gone',
    async () => {
      const pods = await podsOf('rollout');
      return pods.length === 1 && pods[0]?.metadata.uid !== old?.metadata.uid;
    },
    240_000,
  );
  await waitReady('rollout');
  const before = answered;
  await eventually('answers after the change', () => answered > before + clients);
  rolledOut = true;
  await running;
  expect(failures).toEqual([]);
});

test('a namespace with a service in it goes although S3 is down', async () => {
  const metadata = { namespace: 'e2e-gone' };
  await apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: metadata.namespace } });
  const uri = await upload('demo', demoModel());
  const here = [secret('s3', 'not-the-key'), serviceOf('gone', { uri }), serviceOf('waiting', { uri })];
  await clusterPart('stop', 's3');
  try {
    await apply(...here.map((object) => ({ ...object, metadata: { ...nameOf(object), ...metadata } })));
    await kubectl(['wait', '--for=condition=ModelResolved=Unknown', 'llm/gone', '-n', 'e2e-gone']);
    await kubectl(['delete', 'namespace', 'e2e-gone', '--timeout=60s']);
  } finally {
    await clusterPart('start', 's3');
  }
});

const nameOf = (object: object): object => (object as { metadata: object }).metadata;
