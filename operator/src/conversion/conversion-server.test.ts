import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { text } from 'node:stream/consumers';
import type { PeerCertificate, TLSSocket } from 'node:tls';
import { afterEach, describe, expect, test } from '@jest/globals';
import { createOperatorLogger } from '../log.js';
import { ConversionServer } from './conversion-server.js';
import { selfSignedCertificate, type KeyedCertificate } from './self-signed-certificate.js';

const made = (): KeyedCertificate =>
  selfSignedCertificate({
    names: ['127.0.0.1'],
    notBefore: new Date(Date.now() - 3_600_000),
    notAfter: new Date(Date.now() + 3_600_000),
  });
const pair = made();
const review = (objects: readonly object[]): string =>
  JSON.stringify({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'ConversionReview',
    request: { uid: 'u', desiredAPIVersion: 'llmservice.dev/v1beta1', objects },
  });

let running: { readonly stop: AbortController; readonly ended: Promise<void> } | null = null;
afterEach(async () => {
  running?.stop.abort();
  await running?.ended;
  running = null;
});

/** @param found what the certificate is by now, or why there is none */
function start(found: () => KeyedCertificate | Error | null, maxBodyBytes = 1000): ConversionServer {
  const ensure = (): Promise<KeyedCertificate | null> => {
    const next = found();
    return next instanceof Error ? Promise.reject(next) : Promise.resolve(next);
  };
  const server = new ConversionServer({
    port: 0,
    certificate: { ensure },
    logger: createOperatorLogger(null),
    intervalMs: 5,
    retryMs: 5,
    maxBodyBytes,
  });
  const stop = new AbortController();
  running = { stop, ended: server.run(stop.signal) };
  return server;
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise(setImmediate);
}

async function ask(
  server: ConversionServer,
  body: string,
  { method = 'POST', path = '/convert', ca = pair.cert } = {},
): Promise<{ status: number; answer: unknown; certificate: PeerCertificate }> {
  await until(() => server.port !== null);
  const outgoing = request({ host: '127.0.0.1', port: server.port ?? 0, method, path, ca, agent: false });
  outgoing.end(body);
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  const certificate = (response.socket as TLSSocket).getPeerCertificate();
  return {
    status: response.statusCode ?? 0,
    answer: JSON.parse(await text(response)) as unknown,
    certificate,
  };
}

describe('the conversion webhook', () => {
  test('answers who trusts its certificate alone', async () => {
    const server = start(() => pair);
    const object = { apiVersion: 'llmservice.dev/v1alpha1', kind: 'LlmService', spec: { stop: true } };
    expect(await ask(server, review([object]))).toMatchObject({
      status: 200,
      answer: { response: { convertedObjects: [{ spec: { suspend: true } }] } },
    });
    await expect(ask(server, review([]), { ca: made().cert })).rejects.toThrow(/self-signed|verify/);
  });

  test.each([
    ['no JSON', '{', {}, 400, 'NotJsonError'],
    ['no review', '{}', {}, 400, 'MalformedReview'],
    ['a body above the bound', review([{ filler: 'x'.repeat(1000) }]), {}, 413, 'BodyTooLarge'],
    ['another path', '', { path: '/metrics' }, 404, 'NotFound'],
    ['another method', '', { method: 'GET' }, 405, 'MethodNotAllowed'],
  ])('refuses %s with a code', async (_, body, how, status, code) => {
    expect(
      await ask(
        start(() => pair),
        body,
        how,
      ),
    ).toMatchObject({ status, answer: { error: { code } } });
  });

  test('refuses what is nested too deep to be written again, and then answers others', async () => {
    const server = start(() => pair, 2 ** 20);
    const object = '{"apiVersion":"llmservice.dev/v1alpha1","kind":"LlmService","spec":1}';
    const deep = review([]).replace(
      '[]',
      `[${object.replace('1}', `${'['.repeat(1e5)}${']'.repeat(1e5)}}`)}]`,
    );
    expect(await ask(server, deep)).toMatchObject({ status: 400, answer: { error: { code: 'TooDeep' } } });
    expect((await ask(server, review([]))).status).toBe(200);
  });

  test('is not ready until it has a certificate, and says why', async () => {
    let found: KeyedCertificate | Error = new Error('secrets "conversion" is forbidden');
    const server = start(() => found);
    expect(server.notReady()).toContain('not made yet');
    await until(() => server.notReady()?.includes('forbidden') === true);
    found = pair;
    await until(() => server.notReady() === null);
    expect((await ask(server, review([]))).status).toBe(200);
  });

  test('takes another certificate without a pause', async () => {
    const other = made();
    let found = pair;
    const server = start(() => found);
    await until(() => server.port !== null);
    const asked = async (): Promise<string> =>
      (await ask(server, review([]), { ca: pair.cert + other.cert })).certificate.serialNumber;
    const first = await asked();
    found = other;
    let next = first;
    while (next === first) next = await asked();
    expect(next).not.toBe(first);
  });

  test('keeps the last good one while the API server is away', async () => {
    let found: KeyedCertificate | Error = pair;
    let looks = 0;
    const server = start(() => (looks++, found));
    expect((await ask(server, review([]))).status).toBe(200);
    found = new Error('away');
    const before = looks;
    await until(() => looks > before + 1);
    expect((await ask(server, review([]))).status).toBe(200);
    expect(server.notReady()).toBeNull();
  });

  test('is ready, and listens nowhere, where nobody is to convert', async () => {
    const server = start(() => null);
    await until(() => server.notReady() === null);
    expect(server.port).toBeNull();
  });
});
