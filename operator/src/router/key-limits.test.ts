// Budgets of keys over all models of a gateway: what clients are refused and learn, and what a request is charged for that its
// client left. Services are small servers that report as replicas do.

import { createHash } from 'node:crypto';
import { once } from 'node:events';
import * as http from 'node:http';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { slowestBody } from '@llmservice/crds';
import type { GatewayRecord } from '@llmservice/crds/accounting';
import { KeyBudgets } from '@llmservice/crds/keys';
import type { ModelRoute } from '../domain/route-table.js';
import { KeyLimits } from './key-limits.js';
import { KnownKeys } from './known-keys.js';
import { Router } from './router.js';
import { RouterAccounting } from './router-accounting.js';
import { LocalServers, toLocalhost } from './local-servers.fixture.js';
import { RouterError } from './router-error.js';
import { RoutingTable } from './routing-table.js';

const hash = (key: string) => createHash('sha256').update(key).digest('hex');
const configured = KnownKeys.read(
  `keys: [{ id: a, sha256: ${hash('of-a')}, tokensPerMinute: 600 }, { id: b, sha256: ${hash('of-b')} },` +
    `{ id: c, sha256: ${hash('of-c')}, concurrency: 2 }]`,
);
const servers = new LocalServers();
let port: number;
let routes: ModelRoute[];
let used: [key: string, model: string, tokens: number][];
let limited: string[];
let nowMs: number;
let keys: KnownKeys | null;
let lines: GatewayRecord[];

/** A service of this name, which gets whole requests. */
async function service(name: string, handler: http.RequestListener, fallback: string[] = []): Promise<void> {
  const at = await servers.listen((request, response) => {
    request.resume().once('end', () => handler(request, response));
  });
  routes.push({
    ...{ name, service: name, url: `http://${name}.team.svc:${String(at)}`, aliases: [], ca: null },
    ...{ served: [name], fallback, visibleTo: null, created: 0 },
  });
}

const usage = 'x-llmservice-usage';
const report = (prompt: number, completion: number) =>
  `prompt=${String(prompt)}, completion=${String(completion)}, text=0`;

function post(model: string, key: string, more: http.OutgoingHttpHeaders = {}): http.ClientRequest {
  const headers = { authorization: `Bearer of-${key}`, ...more };
  const options = { host: '127.0.0.1', port, method: 'POST', path: '/v1/completions', headers, agent: false };
  const request = http.request(options);
  request.end(JSON.stringify({ model }));
  return request;
}

async function ask(
  model: string,
  key = 'a',
): Promise<{ readonly status: number; readonly headers: http.IncomingHttpHeaders; readonly body: string }> {
  const [response] = (await once(post(model, key), 'response')) as [http.IncomingMessage];
  return { status: response.statusCode ?? 0, headers: response.headers, body: await text(response) };
}

beforeEach(async () => {
  [routes, used, limited, nowMs, keys, lines] = [[], [], [], 0, configured, []];
  const clock = () => ({ steadyMs: nowMs, unixMs: nowMs, dayMs: nowMs });
  const log = { add: (line: unknown) => void lines.push(line as GatewayRecord) };
  const router = new Router({
    table: () => new RoutingTable(routes),
    keys: () => keys,
    keyLimits: new KeyLimits(
      new KeyBudgets(2, (id, { limit, message, retryAfterSeconds }) => {
        limited.push(`${id} ${limit}`);
        return new RouterError('rate_limit_exceeded', message, retryAfterSeconds);
      }),
      clock,
    ),
    accounting: new RouterAccounting(log, 'team/models', clock),
    addresses: { lookup: toLocalhost },
    metrics: {
      ended: () => undefined,
      refused: () => undefined,
      sent: () => undefined,
      used: (key, model, { used: each }) =>
        void used.push([key, model, each.promptTokens + each.completionTokens]),
    },
    limits: { bodyBytes: 1_000, totalBytes: 4_000, slowest: slowestBody },
  });
  port = await servers.listen((request, response) => void router.handle(request, response));
});
afterEach(() => servers.close());

test('all models take of one budget, whose end is refused as services refuse it, and the next minute has its own', async () => {
  await service('one', (_, response) => response.setHeader(usage, report(100, 50)).end('{}'));
  await service('two', (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream', [usage]: report(100, 0) });
    response.write('data: {}\n\n');
    response.addTrailers({ [usage]: report(100, 80) });
    response.end('data: [DONE]\n\n');
  });
  // Of two routers each gives 300.
  const first = await ask('one');
  expect(first).toMatchObject({ status: 200, headers: { 'x-ratelimit-limit-tokens': '300' } });
  expect(first.headers[usage]).toBeUndefined();
  const second = await ask('two');
  expect(second).toMatchObject({ status: 200, body: 'data: {}\n\ndata: [DONE]\n\n' });
  expect(Number(second.headers['x-ratelimit-remaining-tokens'])).toBe(149);
  const refused = await ask('one');
  // 30 owed, and one for the next: 31 of 5 a second.
  expect(refused).toMatchObject({ status: 429, headers: { 'retry-after': '7' } });
  expect(refused.headers['x-ratelimit-remaining-tokens']).toBe('0');
  expect(JSON.parse(refused.body)).toMatchObject({
    error: { code: 'rate_limit_exceeded', type: 'rate_limit_error' },
  });
  expect(refused.body).toContain('tokensPerMinute: 600, divided among 2 replicas');
  expect((await ask('one', 'b')).status).toBe(200);
  nowMs += 7_000;
  expect((await ask('one')).status).toBe(200);
  expect(used).toEqual([
    ['a', 'one', 150],
    ['a', 'two', 180],
    ['b', 'one', 150],
    ['a', 'one', 150],
  ]);
  expect(limited).toEqual(['a tokensPerMinute']);
  expect(
    lines.map(({ key, model, promptTokens, completionTokens }) => [
      ...[key, model, promptTokens + completionTokens],
    ]),
  ).toEqual(used);
});

test('what a request takes is logged where no key is asked for, and held to no budget', async () => {
  keys = null;
  await service('one', (_, response) => response.setHeader(usage, report(900, 50)).end('{}'));
  expect([(await ask('one')).status, (await ask('one')).status]).toEqual([200, 200]);
  const line = { key: null, promptTokens: 900, completionTokens: 50, finish: ['answered'] };
  expect(lines).toMatchObject([line, line]);
});

test('requests at once pay for their prompts before they are sent on', async () => {
  await service('one', (_, response) => response.setHeader(usage, report(1, 0)).end('{}'));
  const asked = JSON.stringify({ model: 'one' }).length;
  expect(asked).toBeLessThan(32);
  // Each pays one token ahead and is charged one in the end: 300 are let in, however they come.
  const answers = await Promise.all(Array.from({ length: 305 }, () => ask('one')));
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(5);
});

test('concurrency is of requests to all models, and an end makes room', async () => {
  let end = (): void => undefined;
  await service('slow', (_, response) => {
    response.writeHead(200).flushHeaders();
    end = () => response.end('late');
  });
  await service('one', (_, response) => response.end('{}'));
  const [slow] = (await once(post('slow', 'c'), 'response')) as [http.IncomingMessage];
  const refused = await ask('one', 'c');
  expect(refused).toMatchObject({ status: 429, headers: { 'retry-after': '1' } });
  expect(refused.body).toContain('concurrency');
  end();
  await text(slow);
  while ((await ask('one', 'c')).status !== 200);
});

test('a client that goes away is charged for what its service computed by then', async () => {
  await service('one', (request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream', [usage]: report(100, 0) });
    response.write('data: {}\n\n');
    request.socket.prependOnceListener('end', () => {
      response.addTrailers({ [usage]: report(100, 77) });
      response.end();
    });
  });
  const request = post('one', 'a');
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  await once(response, 'data');
  request.destroy();
  while (used.length === 0) await new Promise(setImmediate);
  expect(used).toEqual([['a', 'one', 177]]);
});

test('the service’s own limit is sent where it leaves less', async () => {
  const left = (remaining: number): http.RequestListener => {
    return (_, response) => {
      const header = (name: string) => `x-ratelimit-${name}-tokens`;
      response.setHeader(header('limit'), '7').setHeader(header('remaining'), String(remaining));
      response.setHeader(usage, report(1, 0)).end('{}');
    };
  };
  await service('tight', left(5));
  await service('wide', left(5_000));
  expect((await ask('tight')).headers).toMatchObject({
    'x-ratelimit-limit-tokens': '7',
    'x-ratelimit-remaining-tokens': '5',
  });
  expect((await ask('wide')).headers).toMatchObject({ 'x-ratelimit-limit-tokens': '300' });
});

describe('a Secret that changes while a body comes', () => {
  async function upload(key: string): Promise<http.ClientRequest> {
    const headers = { authorization: `Bearer of-${key}`, expect: '100-continue' };
    const path = '/v1/completions';
    const request = http.request({ host: '127.0.0.1', port, method: 'POST', path, headers, agent: false });
    request.flushHeaders();
    // The router has it then.
    await once(request, 'continue');
    return request;
  }
  async function statusOf(request: http.ClientRequest): Promise<number | undefined> {
    request.end('{"model":"one"}');
    const [response] = (await once(request, 'response')) as [http.IncomingMessage];
    await text(response);
    return response.statusCode;
  }
  beforeEach(() => service('one', (_, response) => response.setHeader(usage, report(150, 150)).end('{}')));

  test('holds the request to its new limits, and forgets nothing of them', async () => {
    const request = await upload('b');
    keys = KnownKeys.read(`keys: [{ id: b, sha256: ${hash('of-b')}, tokensPerMinute: 600 }]`);
    expect((await ask('one', 'b')).status).toBe(200);
    expect(await statusOf(request)).toBe(429);
    expect((await ask('one', 'b')).status).toBe(429);
  });

  test('refuses one whose key was withdrawn', async () => {
    const request = await upload('b');
    keys = KnownKeys.read(`keys: [{ id: a, sha256: ${hash('of-a')} }]`);
    expect(await statusOf(request)).toBe(401);
    expect(used).toEqual([]);
  });
});

test('for a client that has gone nobody is asked after a service without room', async () => {
  let fallbacks = 0;
  let isTaken = (): void => undefined;
  const taken = new Promise<void>((resolve) => (isTaken = resolve));
  await service(
    'full',
    (request, response) => {
      request.socket.prependOnceListener('end', () => response.writeHead(503).end());
      isTaken();
    },
    ['other'],
  );
  await service('other', (_, response) => {
    fallbacks += 1;
    response.end('{}');
  });
  const request = post('full', 'a').on('error', () => undefined);
  await taken;
  request.destroy();
  while (used.length === 0) await new Promise(setImmediate);
  expect([used, fallbacks]).toEqual([[['a', 'full', 0]], 0]);
});

test('a client can neither ask for the report nor keep its service from it', async () => {
  let asked: http.IncomingHttpHeaders = {};
  await service('one', ({ headers }, response) => {
    asked = headers;
    response.writeHead(200, { [usage]: report(1, 0), trailer: usage });
    response.write('{');
    response.addTrailers({ [usage]: report(40, 2) });
    response.end('}');
  });
  const forged = { [usage]: report(0, 0), connection: `close, ${usage}, accept-encoding` };
  const request = post('one', 'a', { ...forged, 'accept-encoding': 'gzip' });
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  expect(await text(response)).toBe('{}');
  expect(asked).toMatchObject({ [usage]: 'report', 'accept-encoding': 'identity' });
  expect([response.headers[usage], response.headers.trailer, response.trailers]).toEqual([
    undefined,
    undefined,
    {},
  ]);
  expect(used).toEqual([['a', 'one', 42]]);
});
