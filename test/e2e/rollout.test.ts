// Changing and deleting a service on a real node: clients notice neither, and deletion needs nothing else to work.

import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { eventually } from '../processes.js';
import { demoModel, upload } from './bucket.js';
import { apply, clusterPart, kubectl } from './cluster.js';
import { call } from './gateway.js';
import { makeNamespace, namespace, podsOf, remove, secret, serviceOf, waitReady } from './service.js';
import { SteadyStreams } from './steady-streams.js';

jest.setTimeout(300_000);
const host = 'rollout.e2e.example';
const clients = 32;

beforeAll(async () => {
  await makeNamespace();
  const engine = { maxNumSeqs: clients };
  await apply(serviceOf('rollout', { uri: await upload('demo', demoModel()), host, engine }));
  await waitReady('rollout');
  await eventually('the route', async () => (await call(host, '/v1/models')).status === 200, 60_000);
});
afterAll(() => remove('rollout'));

test('a new revision takes over from the old under 32 streams, and not one of them is cut', async () => {
  const [old] = await podsOf('rollout');
  const streams = new SteadyStreams(host, clients);
  await streams.flow('before the change');
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
  await streams.flow('after the change');
  await streams.stop();
  expect(streams.failures).toEqual([]);
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
