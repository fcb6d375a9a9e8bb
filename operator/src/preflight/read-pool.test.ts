import { setImmediate as turn } from 'node:timers/promises';
import { beforeEach, expect, test } from '@jest/globals';
import { ReadPool } from './read-pool.js';

let pool: ReadPool;
let begun: string[];
let ends: Map<string, () => void>;
const { signal } = new AbortController();

beforeEach(() => {
  pool = new ReadPool({ total: 4, perNamespace: 2 });
  begun = [];
  ends = new Map();
});

/** A read that lasts until its end is called. */
function read(name: string, { doubtful = false, stop = signal } = {}): Promise<void> {
  const namespace = name.slice(0, 1);
  return pool.run({ namespace, doubtful }, stop, () => {
    begun.push(name);
    return new Promise((resolve) => ends.set(name, resolve));
  });
}

async function readAll(names: readonly string[], options = {}): Promise<void> {
  for (const name of names) void read(name, options);
  await turn();
}

async function end(name: string): Promise<void> {
  ends.get(name)?.();
  await turn();
}

test('as many begin as there are places, of one namespace no more than its part', async () => {
  await readAll(['a1', 'a2', 'a3', 'b1', 'c1', 'd1']);
  expect(begun).toEqual(['a1', 'a2', 'b1', 'c1']);
});

test('a place goes to the namespace that has the fewest', async () => {
  await readAll(['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'd1']);
  await end('a1');
  expect(begun.slice(4)).toEqual(['d1']);
  await end('c1');
  expect(begun.slice(5)).toEqual(['a3']);
});

test('those whose endpoint did not answer take half of the places, in all and of a namespace', async () => {
  await readAll(['a1', 'a2', 'b1', 'c1'], { doubtful: true });
  expect(begun).toEqual(['a1', 'b1']);
  await readAll(['a3', 'd1']);
  expect(begun).toEqual(['a1', 'b1', 'a3', 'd1']);
});

test('who leaves waits no more', async () => {
  await readAll(['a1', 'a2']);
  const stop = new AbortController();
  const waiting = read('a3', { stop: stop.signal });
  stop.abort();
  await expect(waiting).rejects.toThrow('aborted');
  await expect(read('a4', { stop: stop.signal })).rejects.toThrow('aborted');
  await readAll(['a5']);
  await end('a1');
  expect(begun).toEqual(['a1', 'a2', 'a5']);
});

test('a read that fails gives its place back', async () => {
  const failing = pool.run({ namespace: 'a', doubtful: false }, signal, () => Promise.reject(new Error('x')));
  await expect(failing).rejects.toThrow('x');
  await readAll(['a1', 'a2']);
  expect(begun).toEqual(['a1', 'a2']);
});
