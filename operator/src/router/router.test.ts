import { createHash } from 'node:crypto';
import { once } from 'node:events';
import * as http from 'node:http';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { slowestBody, type BodyPace } from '@llmservice/crds';
import { KeyBudgets } from '@llmservice/crds/keys';
import type { ModelRoute } from '../domain/route-table.js';
import { KeyLimits } from './key-limits.js';
import { KnownKeys } from './known-keys.js';
import { LocalServers, toLocalhost } from './local-servers.fixture.js';
import { RouterError } from './router-error.js';
import { Router } from './router.js';
import { RoutingTable } from './routing-table.js';

const servers = new LocalServers();
let port: number;
let routes: ModelRoute[];
let ended: string[];
let refused: string[];
let router: Router;
let keys: KnownKeys | null;
let totalBytes: number;
let slowest: BodyPace;
let taken: [string, string, number][];

/** A service of this name, behind a Service of the namespace. */
async function service(name: string, handler: http.RequestListener, fallback: string[] = []): Promise<void> {
  const at = await servers.listen(handler);
  routes.push({
    ...{ name, service: name, url: `http://${name}.team.svc:${String(at)}`, aliases: [`${name}-alias`] },
    ...{ ca: null, served: [name], fallback, visibleTo: null, created: 0 },
  });
}

const asked = async (request: http.IncomingMessage): Promise<object> => ({
  host: request.headers.host?.split(':')[0],
  url: request.url,
  body: await text(request),
  headers: request.headers,
});
const echo: http.RequestListener = (request, response) => {
  void asked(request).then((seen) => response.end(JSON.stringify(seen)));
};
const says =
  (status: number): http.RequestListener =>
  (request, response) => {
    request.resume().once('end', () => response.writeHead(status).end(`said ${String(status)}`));
  };

interface Answer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: string;
}

async function post(
  body: string,
  headers: http.OutgoingHttpHeaders = {},
  path = '/v1/completions',
): Promise<Answer> {
  const request = http.request({ host: '127.0.0.1', port, method: 'POST', path, headers, agent: false });
  request.end(body);
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  return { status: response.statusCode ?? 0, headers: response.headers, body: await text(response) };
}

beforeEach(async () => {
  [routes, ended, refused, keys, totalBytes, taken] = [[], [], [], null, 1_500, []];
  slowest = slowestBody;
  router = new Router({
    table: () => new RoutingTable(routes),
    keys: () => keys,
    accounting: null,
    addresses: { lookup: toLocalhost },
    metrics: {
      ended: (model, outcome) => void ended.push(`${model} ${outcome}`),
      refused: (reason) => void refused.push(reason),
      sent: () => undefined,
      used: (key, model, { used }) =>
        void taken.push([key, model, used.promptTokens + used.completionTokens]),
    },
    keyLimits: new KeyLimits(
      new KeyBudgets(1, (_, { message, retryAfterSeconds }) => {
        return new RouterError('rate_limit_exceeded', message, retryAfterSeconds);
      }),
      () => ({ steadyMs: 0, unixMs: 0, dayMs: 0 }),
    ),
    limits: {
      bodyBytes: 1_000,
      get slowest() {
        return slowest;
      },
      get totalBytes() {
        return totalBytes;
      },
    },
  });
  port = await servers.listen((request, response) => void router.handle(request, response));
});
afterEach(() => servers.close());

describe('a request', () => {
  test('reaches the Service by its own name, which the activator knows, with its body byte for byte', async () => {
    await service('demo', echo);
    const body = ' {"x" : "\\u00e4" ,\n"model":"demo", "model" : "demo"}';
    const { body: seen } = await post(body, { traceparent: '00-1-2-01' }, '/openai/v1/completions?x=%2F..');
    expect(JSON.parse(seen)).toMatchObject({
      ...{ host: 'demo.team.svc', url: '/openai/v1/completions?x=%2F..', body },
      headers: { traceparent: '00-1-2-01' },
    });
  });

  test('loses headers of its connection, and one that only routes may send', async () => {
    await service('demo', echo);
    const { body } = await post('{"model":"demo"}', {
      ...{ connection: 'close, x-private', 'x-private': 'a', te: 'trailers' },
      'x-llmservice-fallback-for': 'another',
      'x-llmservice-usage': 'report',
    });
    const { headers } = JSON.parse(body) as { headers: object };
    expect(Object.keys(headers)).not.toEqual(expect.arrayContaining(['x-private']));
    expect(Object.keys(headers)).not.toEqual(expect.arrayContaining(['te']));
    expect(Object.keys(headers)).not.toEqual(expect.arrayContaining(['x-llmservice-fallback-for']));
    expect(Object.keys(headers)).not.toContain('x-llmservice-usage');
  });

  test('by a name that the service does not have says that it is meant', async () => {
    await service('demo', echo);
    const { body } = await post('{"model":"demo-alias"}');
    expect(JSON.parse(body)).toMatchObject({ headers: { 'x-llmservice-fallback-for': 'demo-alias' } });
  });

  test('has a name of its own where the client gave none', async () => {
    await service('demo', echo);
    const { headers, body } = await post('{"model":"demo"}');
    expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    expect(JSON.parse(body)).toMatchObject({ headers: { 'x-request-id': headers['x-request-id'] } });
  });

  test.each([
    ['[1]', 400, 'invalid_request'],
    ['{"model":7}', 400, 'invalid_request'],
    ['\ufeff{"model":"demo"}', 400, 'invalid_request'],
    ['{"model":"none"}', 404, 'model_not_found'],
    [`{"model":"demo","x":"${'x'.repeat(1_000)}"}`, 413, 'request_too_large'],
  ])('of %.20s… is answered %i', async (body, status, code) => {
    await service('demo', echo);
    const answer = await post(body);
    expect(answer.status).toBe(status);
    expect(JSON.parse(answer.body)).toMatchObject({ error: { code } });
    expect(refused).toEqual([code]);
  });

  test('to what has no model in its body is refused by what to ask', async () => {
    const answer = await post('{}', {}, '/v1/files');
    expect(answer.status).toBe(404);
    expect(answer.body).toContain('asked of that service');
  });

  test('finds no room where others keep it, and finds it once they are answered', async () => {
    let answer: () => void = () => undefined;
    const taken = new Promise<void>((resolve) => {
      void service('slow', (request, response) => {
        answer = () => response.end('late');
        request.resume().once('end', resolve);
      });
    });
    const body = `{"model":"slow","x":"${'x'.repeat(900)}"}`;
    while (routes.length === 0) await new Promise(setImmediate);
    const first = post(body);
    await taken;
    expect((await post(body)).status).toBe(503);
    expect(refused).toEqual(['queue_full']);
    answer();
    expect((await first).body).toBe('late');
    await service('demo', echo);
    expect((await post(body.replace('slow', 'demo'))).status).toBe(200);
  });
});

const hash = (key: string) => createHash('sha256').update(key).digest('hex');

test('a key whose uploads do not end leaves room for others', async () => {
  totalBytes = 4_000;
  keys = KnownKeys.read(`keys: [{ id: a, sha256: ${hash('of-a')} }, { id: b, sha256: ${hash('of-b')} }]`);
  await service('demo', echo);
  const body = `{"model":"demo","x":"${'x'.repeat(600)}"}`;
  const path = '/v1/completions';
  const headers = { authorization: 'Bearer of-a', 'content-length': body.length };
  const upload = http.request({ host: '127.0.0.1', port, method: 'POST', path, headers, agent: false });
  upload.write(body.slice(0, -1));
  // The second of a key is refused once the first has come.
  const of = async (key: string) => (await post(body, { authorization: `Bearer ${key}` })).status;
  while ((await of('of-a')) !== 503);
  expect(await of('of-b')).toBe(200);
  upload.end(body.slice(-1));
  const [response] = (await once(upload, 'response')) as [http.IncomingMessage];
  expect(response.statusCode).toBe(200);
  response.resume();
  expect(await of('of-a')).toBe(200);
});

test('a body that hardly comes is cut off, and holds no room', async () => {
  slowest = { windowMs: 10, bytesPerSecond: 500 };
  await service('demo', echo);
  const headers = { 'content-length': 900 };
  const request = http.request({
    ...{ host: '127.0.0.1', port, method: 'POST', path: '/v1/completions', headers, agent: false },
  });
  request.on('error', () => undefined);
  request.write('{"model":"demo","x":"'.padEnd(899, 'x'));
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  expect(response.statusCode).toBe(408);
  expect(await text(response)).toContain('request_timeout');
  while (router.open > 0) await new Promise(setImmediate);
  expect(refused).toEqual(['request_timeout']);
  slowest = slowestBody;
  expect((await post(`{"model":"demo","x":"${'x'.repeat(900)}"}`)).status).toBe(200);
});

describe('a service without room', () => {
  test('leaves the answer to the next, which says who it is', async () => {
    await service('a', says(503), ['b', 'c']);
    await service('b', says(503));
    await service('c', echo);
    const answer = await post('{"model":"a"}');
    expect(answer).toMatchObject({ status: 200, headers: { 'x-llmservice-fallback': 'c' } });
    expect(JSON.parse(answer.body)).toMatchObject({ headers: { 'x-llmservice-fallback-for': 'a' } });
    expect(ended).toEqual(['a fallback_answered']);
  });

  test('answers itself where nobody is left', async () => {
    await service('a', says(503), ['b']);
    await service('b', says(503));
    expect(await post('{"model":"a"}')).toMatchObject({ status: 503, body: 'said 503' });
  });

  test('is no service that refuses for another reason', async () => {
    await service('a', says(429), ['b']);
    await service('b', echo);
    expect(await post('{"model":"a"}')).toMatchObject({ status: 429, body: 'said 429' });
  });

  test('is no service that ends before its answer: what it has taken is not begun twice', async () => {
    await service('a', (request) => void request.resume().once('end', () => request.socket.destroy()), ['b']);
    await service('b', echo);
    const answer = await post('{"model":"a"}');
    expect(answer.status).toBe(502);
    expect(ended).toEqual(['a failed']);
  });
});

test('a stream that is cut off ends with an error as an event', async () => {
  await service('a', (request, response) => {
    request.resume();
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write('data: {"half', () => setTimeout(() => response.destroy(), 20));
  });
  const { body } = await post('{"model":"a","stream":true}');
  const [half, error] = body.trim().split('\n\n');
  expect(half).toBe('data: {"half');
  expect(JSON.parse((error ?? '').replace('data: ', ''))).toMatchObject({
    error: { code: 'upstream_failed' },
  });
});
