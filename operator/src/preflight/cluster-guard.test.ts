import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { Writable } from 'node:stream';
import { createLogger, format, transports } from 'winston';
import { ApiError } from '../kube/client.js';
import type { KubeObject } from '../kube/types.js';
import type { EndpointRules } from './address-guard.js';
import { ClusterGuard } from './cluster-guard.js';

const object = (more: object): KubeObject => ({
  apiVersion: 'v1',
  kind: 'X',
  metadata: { name: 'x' },
  ...more,
});
let stop: AbortController;
beforeEach(() => {
  stop = new AbortController();
});
afterEach(() => stop.abort());

const cidrsPath = '/apis/networking.k8s.io/v1/servicecidrs';
const slicePath = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes';
const nodesPath = '/api/v1/nodes';

/** A guard in a cluster that answers so by path; what it warned of. */
function guardIn(
  answers: Map<string, KubeObject[] | number>,
  rules: Partial<EndpointRules> = {},
  intervalMs = 20,
) {
  const asked: string[] = [];
  const answer = (path: string): KubeObject[] => {
    asked.push(path);
    const found = answers.get(path) ?? 404;
    if (typeof found === 'number') throw new ApiError(found, String(found), 'Unknown');
    return found;
  };
  const client = {
    serverHost: '11.9.0.1',
    find: <T>(path: string) =>
      Promise.resolve().then(() => (answers.has(path) ? answer(path)[0] : null) as T | null),
    async *list<T extends KubeObject>(path: string) {
      yield* (await Promise.resolve(answer(path))) as T[];
    },
  };
  const warned: unknown[] = [];
  const stream = new Writable({
    write: (line: Buffer, _, next) => {
      warned.push((JSON.parse(line.toString()) as { source?: unknown }).source);
      next();
    },
  });
  const guard = new ClusterGuard({
    ...{ client, intervalMs, rules: { allowed: [], refused: [], ...rules } },
    logger: createLogger({ format: format.json(), transports: [new transports.Stream({ stream })] }),
  });
  return { guard, asked, warned };
}

const cluster = () =>
  new Map<string, KubeObject[] | number>([
    [cidrsPath, [object({ spec: { cidrs: ['11.0.0.0/16'] } })]],
    [slicePath, [object({ endpoints: [{ addresses: ['11.3.0.1'] }] })]],
    [
      nodesPath,
      [object({ spec: { podCIDR: '11.1.0.0/24' }, status: { addresses: [{ address: '11.2.0.7' }] } })],
    ],
  ]);
const own = ['11.0.4.4', '11.1.0.200', '11.2.0.7', '11.3.0.1', '11.9.0.1'];
const refuses = (guard: ClusterGuard, address: string): boolean => {
  try {
    guard.guard.lookupFor(`https://${address}`);
    return false;
  } catch (error) {
    expect((error as Error).message).toContain("which is the cluster's own");
    return true;
  }
};

test('public addresses of the cluster are refused, those next to them and those that are allowed are not', async () => {
  const { guard, warned } = guardIn(cluster(), { allowed: ['11.0.9.0/24'], refused: ['11.4.0.0/16'] });
  expect(own.map((each) => refuses(guard, each))).toEqual(own.map(() => false));
  await guard.start(stop.signal);
  for (const address of [...own, '11.4.0.1'])
    expect([address, refuses(guard, address)]).toEqual([address, true]);
  for (const address of ['11.1.1.200', '11.2.0.8', '11.0.9.7']) expect(refuses(guard, address)).toBe(false);
  expect(guard.rules.refused).toEqual(expect.arrayContaining(['11.4.0.0/16', '11.0.0.0/16']));
  expect(warned).toEqual([]);
});

test('what the operator may not read is reported once, and the rest is refused', async () => {
  const { guard, asked, warned } = guardIn(cluster().set(nodesPath, 403).set(cidrsPath, 404));
  await guard.start(stop.signal);
  while (asked.filter((each) => each === nodesPath).length < 3)
    await new Promise((next) => setTimeout(next, 5));
  expect(own.map((each) => refuses(guard, each))).toEqual([false, false, false, true, true]);
  expect(warned.sort()).toEqual(['nodes', 'servicecidrs']);
  expect(asked).toContain('/apis/networking.k8s.io/v1beta1/servicecidrs');
});

test('nothing is taken for known before the server has answered, and what was found stays when it does no more', async () => {
  const answers = cluster().set(cidrsPath, 500);
  const { guard, asked, warned } = guardIn(answers);
  let isReady = false;
  const started = guard.start(stop.signal).then(() => (isReady = true));
  while (!asked.includes(nodesPath)) await new Promise((next) => setTimeout(next, 5));
  expect(isReady).toBe(false);
  while (warned.length === 0) await new Promise((next) => setTimeout(next, 5));
  expect(warned).toEqual(['servicecidrs']);
  answers.set(cidrsPath, [object({ spec: { cidrs: ['11.0.0.0/16'] } })]);
  await started;
  const looks = asked.length;
  for (const path of [cidrsPath, slicePath, nodesPath]) answers.set(path, 500);
  while (asked.length < looks + 6) await new Promise((next) => setTimeout(next, 5));
  expect(own.map((each) => refuses(guard, each))).toEqual(own.map(() => true));
});

test('a node that comes later is refused from the next look on', async () => {
  const answers = cluster().set(nodesPath, []);
  const { guard } = guardIn(answers);
  await guard.start(stop.signal);
  expect(refuses(guard, '11.2.0.7')).toBe(false);
  answers.set(nodesPath, [object({ status: { addresses: [{ address: '11.2.0.7' }] } })]);
  while (!refuses(guard, '11.2.0.7')) await new Promise((next) => setTimeout(next, 5));
});
