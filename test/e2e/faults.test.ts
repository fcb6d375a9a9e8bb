// Faults while a service runs or loads: each ends in a reported, bounded outcome, and no pod restarts without need.

import { afterEach, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import { eventually } from '../processes.js';
import { apply, clusterPart, getJson, kubectl } from './cluster.js';
import { demoModel, upload } from './bucket.js';
import { call, chatBody, chatPath, stream } from './gateway.js';
import {
  fromPod,
  inPod,
  makeNamespace,
  namespace,
  podOf,
  podsOf,
  remove,
  restartsOf,
  serviceOf,
  waitReady,
  type PodState,
} from './service.js';
import { paddedModel } from './padded-model.js';

jest.setTimeout(240_000);
const host = 'faults.e2e.example';

beforeAll(async () => {
  await makeNamespace();
  await apply(serviceOf('faults', { uri: await upload('demo', demoModel()), host }));
});
beforeEach(async () => {
  await waitReady('faults');
  await eventually('the route', async () => (await call(host, '/v1/models')).status === 200, 60_000);
});
afterEach(() => remove('slow-pull', 'after-restart'));

/** Asks from within, since the pull may take less time than it takes to ask from outside. */
const untilPulling = `for (let tries = 0; tries < 1000; tries++) {
  const health = await fetch('http://127.0.0.1:8080/health').then((r) => r.json()).catch(() => null);
  if ((health?.load?.bytesDone ?? 0) > 0) process.exit(0);
  await new Promise((resolve) => setTimeout(resolve, 20));
}
throw new Error('nothing is pulled');`;

/** Kills the engine process in a pod, found in /proc since the image has no ps. The pattern does not match itself. */
async function killEngine(pod: PodState): Promise<void> {
  const script = `for p in /proc/[0-9]*; do if tr '\\0' ' ' <$p/cmdline | grep -q 'engine[-]process'; then kill -9 \${p#/proc/}; fi; done`;
  await kubectl(['exec', '-n', namespace, pod.metadata.name, '--', 'sh', '-c', script]);
}

const identity = (pods: readonly PodState[]): object => ({
  uids: pods.map(({ metadata }) => metadata.uid),
  restarts: restartsOf(pods),
});

test('a killed engine ends the running stream with an error event, and the next request is answered', async () => {
  const pod = await podOf('faults');
  const before = identity(await podsOf('faults'));
  const events: string[] = [];
  for await (const { data } of stream(
    host,
    chatPath,
    chatBody('Tell me about the project.', { max_tokens: 4000, ignore_eos: true }),
  )) {
    events.push(data);
    if (events.length === 1) await killEngine(pod);
  }
  const error = events
    .map((data) => (data === '[DONE]' ? {} : (JSON.parse(data) as object)))
    .find((event) => 'error' in event);
  expect(error).toMatchObject({ error: { code: expect.any(String), message: expect.any(String) } });

  const answer = await call(host, chatPath, chatBody('What is the capital of France?'));
  expect(answer).toMatchObject({ status: 200, body: expect.stringContaining('Paris') });
  expect(identity(await podsOf('faults'))).toEqual(before);
});

test('killing the operator restarts no pod, and the next one continues', async () => {
  const before = identity(await podsOf('faults'));
  const selector = 'app.kubernetes.io/name=llmservice-operator';
  await kubectl(['delete', 'pods', '-n', 'llmservice-system', '-l', selector, '--force', '--grace-period=0']);
  await kubectl([
    'rollout',
    'status',
    'deployment/llmservice-operator',
    '-n',
    'llmservice-system',
    '--timeout=120s',
  ]);
  await kubectl(['delete', 'service', 'faults', '-n', namespace]);
  await eventually(
    'the Service to be made again',
    () => getJson(['service', 'faults', '-n', namespace]),
    60_000,
  );
  expect(identity(await podsOf('faults'))).toEqual(before);
});

test('a pull that loses its S3 server waits for it and continues from where it was', async () => {
  const bytesDone = async (pod: PodState): Promise<number> => {
    const health = JSON.parse(await fromPod(pod, '/health')) as { load: { bytesDone: number } | null };
    return health.load?.bytesDone ?? 0;
  };
  await apply(
    serviceOf('slow-pull', { uri: await upload('padded', paddedModel(demoModel(), 768 * 1024 ** 2)) }),
  );
  const pod = await podOf('slow-pull');
  await eventually('the pull to begin', () => inPod(pod, untilPulling), 60_000);
  await clusterPart('stop', 's3');
  try {
    const reached = await bytesDone(pod);
    await eventually(
      'the pull to notice',
      async () => /S3Unavailable/.test(await fromPod(pod, '/health')),
      60_000,
    );
    expect(await bytesDone(pod)).toBeGreaterThanOrEqual(reached);
  } finally {
    await clusterPart('start', 's3');
  }
  await waitReady('slow-pull');
  expect(identity(await podsOf('slow-pull'))).toEqual({ uids: [pod.metadata.uid], restarts: 0 });
});

test('a restarted API server: the service continues to serve, and new services converge', async () => {
  const before = identity(await podsOf('faults'));
  await clusterPart('stop', 'apiserver');
  try {
    const answer = await call(host, chatPath, chatBody('What is the capital of France?'));
    expect(answer).toMatchObject({ status: 200 });
  } finally {
    await clusterPart('start', 'apiserver');
  }
  // An API server is ready before it has found every custom resource.
  const next = serviceOf('after-restart', { uri: await upload('demo', demoModel()) });
  await eventually('the API server to take a service', () => apply(next).then(() => true), 60_000);
  await waitReady('after-restart');
  expect(identity(await podsOf('faults'))).toEqual(before);
});
