// Certificates and API keys in Secrets: mounted by a real kubelet, missing at first, changed while the service runs.

import { X509Certificate, createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { Authority, type Certificate } from '../builders/certificates.js';
import { eventually } from '../processes.js';
import { demoModel, upload } from './bucket.js';
import { apply, kubectl } from './cluster.js';
import { KubectlLlm } from './kubectl-llm.js';
import {
  conditionOf,
  makeNamespace,
  namespace,
  podOf,
  podsOf,
  remove,
  restartsOf,
  serviceOf,
  statusOf,
  waitReady,
} from './service.js';

jest.setTimeout(360_000);
const host = `secrets.${namespace}.svc`;
const authority = new Authority('cluster');
const first = authority.issue(host);
const second = authority.issue(host);
/** Kubernetes promises a minute for a mounted Secret; the rest is for a slow machine. */
const mountMs = 180_000;

const certificate = ({ cert, key }: Certificate): object => ({
  apiVersion: 'v1',
  kind: 'Secret',
  type: 'kubernetes.io/tls',
  metadata: { name: 'secrets-tls', namespace },
  stringData: { 'tls.crt': cert, 'tls.key': key },
});

const keys = (key: string): object => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'secrets-keys', namespace },
  stringData: {
    'keys.yaml': JSON.stringify({
      keys: [{ id: 'team', sha256: createHash('sha256').update(key).digest('hex') }],
    }),
  },
});

interface Seen {
  readonly status: number;
  /** SHA-256 of the certificate that the server showed. */
  readonly fingerprint: string;
}

/** Asks the Service by its name from inside the cluster, trusting only the authority. */
async function ask(key: string): Promise<Seen> {
  const options = {
    host,
    path: '/v1/models',
    ca: authority.cert,
    headers: { authorization: `Bearer ${key}` },
    // A first packet that finds no route to the new Service yet is lost, and a connection waits minutes for its answer.
    timeout: 5000,
  };
  const script = `require('https').get(${JSON.stringify(options)}, (r) => { console.log(JSON.stringify({
    status: r.statusCode, fingerprint: r.socket.getPeerCertificate().fingerprint256 })); r.resume(); }).on('timeout', function () { this.destroy(new Error('no connection in time')); });`;
  const { metadata } = await podOf('secrets');
  return JSON.parse(
    await kubectl(['exec', '-n', namespace, metadata.name, '--', 'node', '-e', script]),
  ) as Seen;
}

const fingerprintOf = ({ cert }: Certificate): string => new X509Certificate(cert).fingerprint256;

beforeAll(async () => {
  await makeNamespace();
  const service = serviceOf('secrets', { uri: await upload('demo', demoModel()) }) as { spec: object };
  const spec = {
    ...service.spec,
    tls: { secretRef: { name: 'secrets-tls' } },
    auth: { keysSecretRef: { name: 'secrets-keys' } },
  };
  await apply(keys('sk-one'), { ...service, spec });
});
afterAll(async () => {
  await remove('secrets');
  await kubectl(['delete', 'secret', 'secrets-tls', 'secrets-keys', '-n', namespace, '--ignore-not-found']);
  authority.remove();
});

test('a certificate that is not there yet is told, and the service comes up once it is', async () => {
  await eventually(
    'the reason',
    async () => (await conditionOf('secrets', 'Ready'))?.reason === 'CertificateInvalid',
    120_000,
  );
  expect((await statusOf('secrets'))?.lastFailure).toMatchObject({
    reason: 'CertificateInvalid',
    message: expect.stringContaining('tls.crt cannot be read'),
    remedy: expect.stringContaining('spec.tls.secretRef'),
  });
  await apply(certificate(first));
  await waitReady('secrets', 300_000);
  expect((await statusOf('secrets'))?.url).toBe(`https://${host}/`);
  // A busy cluster's DNS may say for a moment that it cannot say.
  expect(await eventually('an answer', () => ask('sk-one'))).toEqual({
    status: 200,
    fingerprint: fingerprintOf(first),
  });
});

test('a changed certificate and changed keys are taken over without a restart', async () => {
  const restarts = restartsOf(await podsOf('secrets'));
  await apply(certificate(second), keys('sk-two'));
  await eventually(
    'the new certificate and key',
    async () => {
      const { status, fingerprint } = await ask('sk-two');
      return status === 200 && fingerprint === fingerprintOf(second);
    },
    mountMs,
  );
  expect((await ask('sk-one')).status).toBe(401);
  expect(restartsOf(await podsOf('secrets'))).toBe(restarts);
});

test('kubectl llm chat speaks HTTPS to the pod, with a key', async () => {
  const plugin = new KubectlLlm();
  const chat = ['chat', 'secrets', '--prompt', 'What is the capital of France?'];
  expect((await plugin.run(chat, '', { LLMSERVICE_API_KEY: 'sk-two' })).stdout).toContain('Paris');
  const refused = await plugin.run(chat);
  expect([refused.code, refused.stderr]).toEqual([
    3,
    expect.stringContaining('--key-file or LLMSERVICE_API_KEY'),
  ]);
  plugin.remove();
});
