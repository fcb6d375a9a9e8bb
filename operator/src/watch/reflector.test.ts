import { createServer, type Server, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { KubeConfig } from '@kubernetes/client-node';
import { createLogger } from 'winston';
import { KubeClient } from '../kube/client.js';
import { resources } from '../kube/resources.js';
import { Reflector, type Served } from './reflector.js';

/** What the server answers to the n-th list and the n-th watch. */
interface Script {
  readonly lists: readonly (readonly string[] | number)[];
  readonly watches: readonly (((response: ServerResponse) => void) | number)[];
}

const pod = (name: string, version: number) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'n', resourceVersion: String(version), managedFields: [{}] },
});
const line = (type: string, object: object): string => `${JSON.stringify({ type, object })}\n`;

let server: Server | null = null;
let stop = new AbortController();

/** Pauses between tries are random parts of what they may be: here small ones, that differ. */
beforeEach(() => {
  let count = 0;
  jest.spyOn(Math, 'random').mockImplementation(() => 0.01 * (1 + (count++ % 9)));
});
afterEach(() => {
  jest.restoreAllMocks();
  stop.abort();
  stop = new AbortController();
  server?.closeAllConnections();
  server?.close();
});

/** A reflector of pods on a server that follows the script, and what both saw. */
async function run(script: Script, silenceMs = 60_000, optional = false) {
  const seen: string[] = [];
  const served: Served[] = [];
  const timeouts: number[] = [];
  const requests: string[] = [];
  const requestedAt: number[] = [];
  const logger = createLogger({ silent: true });
  const warnings = jest.fn<(message: string, fields: { delayMs: number }) => void>();
  logger.warn = warnings as never;
  let lists = 0;
  let watches = 0;
  server = createServer((request, response) => {
    const url = new URL(request.url ?? '', 'http://x');
    const watch = url.searchParams.get('watch') === 'true';
    requestedAt.push(performance.now());
    requests.push(watch ? `watch ${url.searchParams.get('resourceVersion') ?? ''}` : 'list');
    if (watch) {
      const answer = script.watches[watches++];
      timeouts.push(Number(url.searchParams.get('timeoutSeconds')));
      if (answer === undefined) response.writeHead(200).flushHeaders();
      else if (typeof answer === 'number') response.writeHead(answer, { 'retry-after': '0' }).end('{}');
      else answer(response.writeHead(200));
      return;
    }
    const names = script.lists[Math.min(lists++, script.lists.length - 1)] ?? [];
    if (typeof names === 'number') return response.writeHead(names).end('{}');
    const items = names.map((name) => pod(name, 1));
    return response.end(JSON.stringify({ metadata: { resourceVersion: '10' }, items }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const config = new KubeConfig();
  const { port } = server.address() as { port: number };
  config.loadFromClusterAndUser(
    { name: 'c', server: `http://127.0.0.1:${port}`, skipTLSVerify: true },
    { name: 'u' },
  );
  const reflector = new Reflector({
    client: new KubeClient(config),
    resource: resources.pods,
    namespace: null,
    logger,
    onChange: ({ metadata }, isKnown) => seen.push(metadata.name + (isKnown ? ' known' : '')),
    silenceMs,
    ...(optional ? { onServed: (each) => served.push(each) } : {}),
  });
  void reflector.run(stop.signal);
  return { reflector, seen, requests, requestedAt, warnings, served, timeouts };
}

async function until(holds: () => boolean): Promise<void> {
  for (let tries = 0; tries < 2_500 && !holds(); tries += 1) await sleep(20);
  expect(holds()).toBe(true);
}

describe('Reflector', () => {
  test('knows what the list and the watch said, without managed fields', async () => {
    const { reflector, seen } = await run({
      lists: [['a', 'b']],
      watches: [
        (response) => {
          response.write(line('ADDED', pod('c', 11)));
          // A line may come in pieces.
          const text = line('DELETED', pod('a', 12));
          response.write(text.slice(0, 20));
          setTimeout(() => response.write(text.slice(20)), 20);
        },
      ],
    });
    await until(() => seen.length === 4);
    expect(seen).toEqual(['a', 'b', 'c', 'a']);
    expect([...reflector.values()].map(({ metadata }) => metadata.name)).toEqual(['b', 'c']);
    expect(reflector.get('n', 'c')?.metadata).toEqual({ ...pod('c', 11).metadata, managedFields: undefined });
  });

  test('takes what a write returned, unless the watch has reported more since', async () => {
    const { reflector, seen } = await run({
      lists: [['a', 'b']],
      watches: [
        (response) => {
          response.write(line('MODIFIED', pod('a', 13)) + line('DELETED', pod('b', 14)));
        },
      ],
    });
    await until(() => seen.length === 4);
    const version = (name: string) => reflector.get('n', name)?.metadata.resourceVersion;
    for (const late of [pod('a', 12), pod('b', 11), pod('c', 14)]) reflector.remember(late);
    expect([version('a'), version('b'), version('c')]).toEqual(['13', undefined, undefined]);
    // Longer numbers are larger, however they begin; two answers may change places, too.
    for (const next of [pod('a', 101), pod('a', 99), pod('b', 100)]) reflector.remember(next);
    expect([version('a'), version('b')]).toEqual(['101', '100']);
  });

  test('says of what the watch sends whether a write had returned it, and keeps the last one', async () => {
    let send: (text: string) => void = () => undefined;
    const { reflector, seen, requests } = await run({
      lists: [['a']],
      watches: [
        (response) => {
          response.flushHeaders();
          send = (text) => response.write(text);
        },
      ],
    });
    await until(() => requests.length === 2);
    for (const version of [11, 12]) reflector.remember(pod('a', version));
    const versions: unknown[] = [];
    for (const version of [11, 12, 13]) {
      send(line('MODIFIED', pod('a', version)));
      await until(() => seen.length === version - 9);
      versions.push(reflector.get('n', 'a')?.metadata.resourceVersion);
    }
    expect(versions).toEqual(['12', '12', '13']);
    expect(seen).toEqual(['a', 'a known', 'a known', 'a']);
  });

  test('continues from where it stood when the server closes the watch', async () => {
    const { requests } = await run({
      lists: [[]],
      watches: [(response) => response.end(line('BOOKMARK', pod('', 42)))],
    });
    await until(() => requests.length === 3);
    expect(requests).toEqual(['list', 'watch 10', 'watch 42']);
  });

  test('lists anew after 410, and reports what went meanwhile', async () => {
    const { requests, seen, reflector } = await run({
      lists: [['a', 'b'], ['b']],
      watches: [
        (response) => response.write(line('ERROR', { code: 410, reason: 'Expired', message: 'too old' })),
      ],
    });
    await until(() => requests.length === 4);
    expect(requests).toEqual(['list', 'watch 10', 'list', 'watch 10']);
    expect(seen).toEqual(['a', 'b', 'a']);
    expect(reflector.get('n', 'a')).toBeNull();
  });

  test('leaves a connection that is silent, though nobody closed it', async () => {
    const { requests } = await run({ lists: [[]], watches: [(response) => response.flushHeaders()] }, 100);
    await until(() => requests.length >= 3);
    expect(requests.slice(0, 3)).toEqual(['list', 'watch 10', 'watch 10']);
  });

  test('leaves a server that took the request and answers nothing', async () => {
    const { requests } = await run({ lists: [[]], watches: [() => undefined] }, 100);
    await until(() => requests.length >= 3);
    expect(requests.slice(0, 3)).toEqual(['list', 'watch 10', 'watch 10']);
  });

  test('pauses longer and longer while watches end as soon as they begin', async () => {
    jest.spyOn(Math, 'random').mockReturnValue(0.05);
    const { requestedAt, warnings } = await run({
      lists: [[]],
      watches: Array.from({ length: 10_000 }, () => (response: ServerResponse) => response.end()),
    });
    await until(() => requestedAt.length >= 6);
    const pauses = warnings.mock.calls.map(([, { delayMs }]) => delayMs);
    expect(pauses.slice(0, 4)).toEqual([20, 40, 80, 160]);
    for (const [at, pauseMs] of [20, 40, 80, 160].entries()) {
      // Of the list and the watches the first is followed at once. A timer may be a millisecond early.
      expect(requestedAt[at + 2]! - requestedAt[at + 1]!).toBeGreaterThanOrEqual(pauseMs - 1);
    }
  });

  test('asks again for a last event that came in part', async () => {
    const { requests, seen } = await run({
      lists: [[]],
      watches: [(response) => response.end(line('ADDED', pod('a', 11)).slice(0, 20))],
    });
    await until(() => requests.length === 3);
    expect(requests).toEqual(['list', 'watch 10', 'watch 10']);
    expect(seen).toEqual([]);
  });

  test.each([429, 500, 503, 401, 403])(
    'continues from where it stood after %i to a watch: nothing is listed anew',
    async (status) => {
      const { requests, seen } = await run({
        lists: [['a']],
        watches: [status, status, (response) => response.write(line('ADDED', pod('b', 11)))],
      });
      await until(() => seen.length === 2);
      expect(requests).toEqual(['list', 'watch 10', 'watch 10', 'watch 10']);
      expect(seen).toEqual(['a', 'b']);
    },
  );

  test('takes an error within a watch like one in its place', async () => {
    const { requests, seen } = await run({
      lists: [['a']],
      watches: [
        (response) => response.write(line('ERROR', { code: 500, reason: 'InternalError', message: 'x' })),
        (response) => response.write(line('ADDED', pod('b', 11))),
      ],
    });
    await until(() => seen.length === 2);
    expect(requests).toEqual(['list', 'watch 10', 'watch 10']);
  });

  test('asks for watches of lengths that differ', async () => {
    const { timeouts } = await run({ lists: [[]], watches: Array.from({ length: 6 }, () => 503) });
    await until(() => timeouts.length >= 5);
    expect(new Set(timeouts).size).toBeGreaterThan(1);
    for (const each of timeouts) expect(each).toBeGreaterThanOrEqual(300);
    for (const each of timeouts) expect(each).toBeLessThan(600);
  });

  test.each<[number, Served]>([
    [403, 'forbidden'],
    [404, 'absent'],
  ])('an optional resource that is answered with %i is %s, and nobody waits for it', async (status, as) => {
    const { reflector, served } = await run({ lists: [status], watches: [] }, 60_000, true);
    await reflector.ready;
    expect(served).toEqual([as]);
    expect(reflector.interruptedMs).toBeNull();
  });

  test('one whose watch is forbidden for a moment is kept, with its objects', async () => {
    const { reflector, served, seen } = await run(
      { lists: [['a']], watches: [403, 403, (response) => response.write(line('ADDED', pod('b', 11)))] },
      60_000,
      true,
    );
    await until(() => seen.length === 2);
    expect(served).toEqual(['served']);
    expect([...reflector.values()]).toHaveLength(2);
  });

  test('one whose watch stays forbidden is given up, once, though it may be listed', async () => {
    const { served, reflector } = await run(
      { lists: [['a']], watches: Array.from({ length: 10_000 }, () => 403) },
      60_000,
      true,
    );
    await until(() => served.includes('forbidden'));
    expect(served).toEqual(['served', 'forbidden']);
    expect([...reflector.values()]).toEqual([]);
  });

  test('says for how long there has been no watch', async () => {
    const { reflector, requests } = await run({ lists: [503, []], watches: [] });
    expect(reflector.interruptedMs).toBeGreaterThanOrEqual(0);
    await until(() => requests.length === 3 && reflector.interruptedMs === null);
  });

  test('continues after a cut connection and after errors of the server', async () => {
    const { requests, seen } = await run({
      lists: [503, ['a']],
      watches: [(response) => response.destroy()],
    });
    await until(() => requests.length === 4);
    expect(requests).toEqual(['list', 'list', 'watch 10', 'watch 10']);
    expect(seen).toEqual(['a']);
  });
});
