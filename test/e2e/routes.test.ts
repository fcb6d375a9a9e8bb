// Public routes through a real gateway: streams are seen to come through, and another service answers while one has no pod
// that does.

import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { Authority } from '../builders/certificates.js';
import { eventually } from '../processes.js';
import { bucket, demoModel, upload } from './bucket.js';
import { apply, kubectl } from './cluster.js';
import { call, chatBody, chatPath, type Answer } from './gateway.js';
import { conditionOf, makeNamespace, namespace, remove, serviceOf, waitReady } from './service.js';

jest.setTimeout(240_000);
const host = 'big.e2e.example';
const question = chatBody('What is the capital of France?', { model: 'big' });
let uri = '';

beforeAll(async () => {
  await makeNamespace();
  uri = await upload('demo', demoModel());
  await apply(serviceOf('standin', { uri, host: 'standin.e2e.example' }));
  await waitReady('standin');
});
afterAll(() => remove('standin', 'big', 'sealed'));

const ask = (): Promise<Answer> => call(host, chatPath, question);
const model = ({ body }: Answer): string => (JSON.parse(body) as { model: string }).model;

test('events come through the gateway as they are sent, and the operator says so', async () => {
  const found = await eventually(
    'StreamingVerified',
    async () => {
      const condition = await conditionOf('standin', 'StreamingVerified');
      if (condition?.status !== 'True') throw new Error(JSON.stringify(condition));
      return condition;
    },
    180_000,
  );
  expect(found.reason).toBe('Streams');
  expect(found.message).toMatch(/come \d+ to \d+ ms apart/);
});

test('a service whose model is not there has its requests answered by another, which says so', async () => {
  const big = serviceOf('big', { uri: `s3://${bucket}/absent/`, host }) as { spec: { model: object } };
  await apply({
    ...big,
    spec: {
      ...big.spec,
      model: { ...big.spec.model, name: 'big' },
      routing: { host, fallback: { service: 'standin' } },
    },
  });
  const answer = await eventually('an answer', async () => {
    const given = await ask();
    return given.status === 200 ? given : null;
  });
  expect(answer.headers['x-llmservice-fallback']).toBe('standin');
  expect(model(answer)).toBe('demo');
  expect(answer.body).toContain('Paris');
  const predicted = await call(host, '/v1/models/big:predict', { prompt: 'x', max_tokens: 1 });
  expect(predicted.status).toBe(200);
  expect((await call(host, chatPath, chatBody('x', { model: 'other' }))).status).toBe(404);
  expect(await conditionOf('big', 'Routed')).toMatchObject({ status: 'True', reason: 'Fallback' });
  expect(await conditionOf('big', 'Ready')).toMatchObject({ status: 'False', reason: 'ModelNotFound' });
});

test('mended, it answers for itself, and no request between is lost', async () => {
  const answers: Answer[] = [];
  const stop = new AbortController();
  const asking = (async () => {
    while (!stop.signal.aborted) {
      answers.push(await ask());
      await sleep(100);
    }
  })();
  await kubectl([
    ...['patch', 'llm', 'big', '-n', namespace, '--type=merge'],
    ...['-p', JSON.stringify({ spec: { model: { uri } } })],
  ]);
  await waitReady('big');
  await eventually('its own answer', () => answers.some((answer) => model(answer) === 'big'), 60_000);
  stop.abort();
  await asking;
  expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
  const last = await ask();
  expect([model(last), last.headers['x-llmservice-fallback']]).toEqual(['big', undefined]);
});

test('pods that speak HTTPS are asked by the gateway once it can verify them, and by nothing less', async () => {
  const [own, strangers] = [new Authority('pods'), new Authority('strangers')];
  const sealedHost = 'sealed.e2e.example';
  const object = (kind: string, name: string, more: object): object => ({
    apiVersion: 'v1',
    kind,
    metadata: { name, namespace, labels: { 'llmservice.dev/secret-for': 'tls' } },
    ...more,
  });
  const authorities = (pem: string): object => object('ConfigMap', 'sealed-ca', { data: { 'ca.crt': pem } });
  const sealedAnswer = (): Promise<Answer> =>
    call(sealedHost, chatPath, chatBody('What is the capital of France?'));
  try {
    const { cert, key } = own.issue(`sealed.${namespace}.svc`);
    const service = serviceOf('sealed', { uri, host: sealedHost }) as { spec: object };
    const tls = { secretRef: { name: 'sealed-tls' }, caConfigMapRef: { name: 'sealed-ca' } };
    await apply(
      object('Secret', 'sealed-tls', {
        type: 'kubernetes.io/tls',
        stringData: { 'tls.crt': cert, 'tls.key': key },
      }),
      authorities(strangers.cert),
      { ...service, spec: { ...service.spec, tls } },
    );
    // Envoy Gateway has taken the route and the policy.
    await waitReady('sealed');
    const refused: Answer[] = [];
    await eventually('refusals', async () => {
      refused.push(await sealedAnswer());
      return refused.filter(({ status }) => status === 503).length >= 3;
    });
    expect(refused.filter(({ status, body }) => status === 200 || body.includes('Paris'))).toEqual([]);

    await apply(authorities(own.cert));
    const answer = await eventually(
      'an answer',
      async () => {
        const given = await sealedAnswer();
        return given.status === 200 ? given : null;
      },
      60_000,
    );
    expect(answer.body).toContain('Paris');
  } finally {
    await kubectl([
      'delete',
      'secret/sealed-tls',
      'configmap/sealed-ca',
      '-n',
      namespace,
      '--ignore-not-found',
    ]);
    own.remove();
    strangers.remove();
  }
});
