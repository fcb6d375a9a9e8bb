// Certificates, API keys and keys of administrators in Secrets: mounted by a real kubelet, missing at first, changed while
// the service runs. What its spec turns on beside them: the administration's port and the request log.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { get } from 'node:https';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { X509Certificate, createHash } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { Authority, type Certificate } from '../builders/certificates.js';
import { eventually, stop } from '../processes.js';
import { bucket, demoModel, textsUnder, upload } from './bucket.js';
import { apply, kubeconfig, kubectl, repository } from './cluster.js';
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
  metadata: { name: 'secrets-tls', namespace, labels: { 'llmservice.dev/secret-for': 'tls' } },
  stringData: { 'tls.crt': cert, 'tls.key': key },
});

/** Of this run: the bucket outlives it. */
const requestLog = `request-log-${String(Date.now())}/`;

const keys = (name: string, purpose: string, id: string, key: string): object => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, namespace, labels: { 'llmservice.dev/secret-for': purpose } },
  stringData: {
    'keys.yaml': JSON.stringify({ keys: [{ id, sha256: createHash('sha256').update(key).digest('hex') }] }),
  },
});
const teamKeys = (key: string): object => keys('secrets-keys', 'keys', 'team', key);

/** A line of the request log. */
interface LoggedRequest {
  readonly key: string | null;
  readonly request: unknown;
  readonly answers?: readonly { readonly content: string }[];
}

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
    administration: { keysSecretRef: { name: 'secrets-admins' } },
    requestLog: { uri: `s3://${bucket}/${requestLog}`, text: true },
  };
  await apply(teamKeys('sk-one'), keys('secrets-admins', 'administration', 'sre', 'sk-admin'), {
    ...service,
    spec,
  });
});
afterAll(async () => {
  await remove('secrets');
  const names = ['secrets-tls', 'secrets-keys', 'secrets-admins'];
  await kubectl(['delete', 'secret', ...names, '-n', namespace, '--ignore-not-found']);
  authority.remove();
});

test('a certificate that is not there yet is reported, and the service comes up once it is', async () => {
  await eventually(
    'the reason',
    async () => (await conditionOf('secrets', 'Ready'))?.reason === 'CertificateInvalid',
    120_000,
  );
  const condition = await conditionOf('secrets', 'ModelResolved');
  expect(condition?.message).toMatch(/the Secret secrets-tls .* does not exist.*spec\.tls\.secretRef/s);
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
  await apply(certificate(second), teamKeys('sk-two'));
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

test('administrators ask a pod through a forwarded port, with keys of their own', async () => {
  const { metadata } = await podOf('secrets');
  const forward = spawn(
    join(repository, '.local/bin/kubectl'),
    ['port-forward', '-n', namespace, `pod/${metadata.name}`, ':8083'],
    { env: { ...process.env, KUBECONFIG: kubeconfig }, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  try {
    const [line] = (await once(createInterface(forward.stdout), 'line')) as [string];
    const port = Number(/127\.0\.0\.1:(\d+)/.exec(line)?.[1]);
    const requests = async (key: string): Promise<[number | undefined, unknown]> => {
      const options = { port, path: '/admin/requests', ca: authority.cert, servername: host };
      const asked = get({ ...options, headers: { authorization: `Bearer ${key}` } });
      const [response] = (await once(asked, 'response')) as [IncomingMessage];
      return [response.statusCode, JSON.parse(await text(response))];
    };
    expect(await requests('sk-admin')).toEqual([200, { requests: [] }]);
    expect(await requests('sk-two')).toMatchObject([401, { error: { code: 'invalid_api_key' } }]);
  } finally {
    await stop(forward);
  }
});

test('the request log has what was asked and answered, in the bucket that the spec names', async () => {
  await eventually(
    'the line of the chat',
    async () => {
      const lines = (await textsUnder(requestLog)).flatMap((each) => each.trimEnd().split('\n'));
      const logged = lines.filter((line) => line !== '').map((line) => JSON.parse(line) as LoggedRequest);
      return logged.some(
        ({ key, request, answers }) =>
          key === 'team' &&
          JSON.stringify(request).includes('capital of France') &&
          answers?.[0]?.content.includes('Paris') === true,
      );
    },
    60_000,
  );
});
