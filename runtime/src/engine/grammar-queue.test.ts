// Grammars that requests wait for, over processes that end when the test says so.

import { beforeEach, expect, jest, test } from '@jest/globals';
import type { CompiledGrammar, CompileOutcome } from '@llmservice/native';
import type { CompiledApart } from './compile-processes.js';
import { GrammarCache } from './grammar-cache.js';
import { GrammarQueue } from './grammar-queue.js';

const grammar = {} as CompiledGrammar;
const each = {
  cpuSeconds: 15,
  wallSeconds: 45,
  stallSeconds: 5,
  memoryBytes: 256 * 2 ** 20,
  resultBytes: 1000,
};
const limits = { atOnce: 3, slowAtOnce: 2, waitMs: 10_000, each };
const wanted = new AbortController().signal;

interface Running {
  readonly text: string;
  outgrow(): Promise<void>;
  end(end: CompileOutcome['end'], message?: string): Promise<void>;
}

let running: (Running | undefined)[];
let begun: string[];
let now: number;
let queue: GrammarQueue;
const read = jest.fn(() => Promise.resolve(grammar));
const turn = () => new Promise(setImmediate);

function make(changes: Partial<typeof limits> = {}): void {
  running = [];
  begun = [];
  now = 0;
  const compile = (place: number, _: unknown, text: string, outgrew: () => void): Promise<CompiledApart> =>
    new Promise((resolve) => {
      expect(running[place]).toBeUndefined();
      begun.push(text);
      const end: Running['end'] = async (end, message = '') => {
        running[place] = undefined;
        resolve({ end, message, bytes: 10, file: place });
        await turn();
      };
      const outgrow = async () => {
        outgrew();
        await turn();
      };
      running[place] = { text, outgrow, end };
    });
  const kill = (place: number): void => void running[place]?.end('killed');
  const cache = new GrammarCache({ bytes: 1000, refusals: 10, refusalMs: 60_000 }, () => now);
  queue = new GrammarQueue({ compile, kill, release: () => undefined }, read, cache, {
    ...limits,
    ...changes,
  });
}

beforeEach(() => {
  make();
  read.mockClear();
});

const ask = (text: string, key = 'a', signal = wanted): Promise<CompiledGrammar> =>
  queue.compile({ kind: 'ebnf', text, after: null }, key, signal);
const at = (text: string): Running => running.find((each) => each?.text === text)!;
const failure = (reason: string, message: string) => ({
  failure: { reason, message: expect.stringContaining(message) },
});

test('one for all requests of a key, and kept for all keys', async () => {
  const both = Promise.all([ask('x'), ask('x')]);
  await at('x').end('compiled');
  expect(await both).toEqual([grammar, grammar]);
  expect(await ask('x', 'b')).toBe(grammar);
  expect(begun).toEqual(['x']);
});

test('two bombs of a key: what is small is compiled alongside them, and they end when they must', async () => {
  const bombs = [ask('bomb 1'), ask('bomb 2')].map((each) =>
    expect(each).rejects.toMatchObject(failure('GrammarInvalid', '15 s')),
  );
  await at('bomb 1').outgrow();
  await at('bomb 2').outgrow();
  expect(running.map((each) => each?.text).filter((text) => text !== undefined)).toEqual(['bomb 1']);
  const small = ask('yes or no', 'a');
  await at('yes or no').end('compiled');
  expect(await small).toBe(grammar);
  await at('bomb 1').end('overTime');
  await at('bomb 2').end('overTime');
  await Promise.all(bombs);
  await expect(ask('bomb 1')).rejects.toMatchObject(failure('GrammarInvalid', '15 s'));
  expect(begun).toEqual(['bomb 1', 'bomb 2', 'yes or no', 'bomb 2']);
});

test('it ends once nobody waits for it', async () => {
  const [first, second] = [new AbortController(), new AbortController()];
  const both = [ask('x', 'a', first.signal), ask('x', 'a', second.signal)].map((each) =>
    expect(each).rejects.toThrow('nobody waits'),
  );
  first.abort();
  await turn();
  expect(at('x')).toBeDefined();
  second.abort();
  await Promise.all(both);
  await turn();
  expect(at('x')).toBeUndefined();
  const again = ask('x');
  await at('x').end('compiled');
  expect(await again).toBe(grammar);
});

test('what waits too long for others is refused', async () => {
  make({ waitMs: 20 });
  const all = ['1', '2', '3'].map((text) => ask(text, text));
  await expect(ask('4', '4')).rejects.toMatchObject(failure('QueueTimeout', 'waited'));
  for (const text of ['1', '2', '3']) await at(text).end('compiled');
  expect(await Promise.all(all)).toEqual([grammar, grammar, grammar]);
  expect(begun).toEqual(['1', '2', '3']);
});

test('what is lost is compiled once more, and then the engine is to blame', async () => {
  const kept = ask('x');
  await at('x').end('lost');
  await at('x').end('compiled');
  expect(await kept).toBe(grammar);
  const lost = expect(ask('y')).rejects.toMatchObject(failure('EngineFault', 'stalled'));
  await at('y').end('lost', 'its process stalled');
  await at('y').end('lost', 'its process stalled');
  await lost;
  const later = ask('y');
  await at('y').end('compiled');
  expect(await later).toBe(grammar);
});

test('what got too little processor time is refused for a while, without work, and compiled after that', async () => {
  const starved = failure(
    'QueueTimeout',
    'too little processor time, less than half of 15 s in 45 s; make it',
  );
  const asked = expect(ask('x')).rejects.toMatchObject(starved);
  await at('x').end('starved');
  await asked;
  await expect(ask('x')).rejects.toMatchObject(starved);
  await expect(ask('x', 'b')).rejects.toMatchObject(starved);
  expect(begun).toEqual(['x']);
  now = 60_000;
  const again = ask('x');
  await at('x').end('compiled');
  expect(await again).toBe(grammar);
  expect(begun).toEqual(['x', 'x']);
});

test('what cannot be read is compiled once more', async () => {
  read.mockRejectedValueOnce(new Error('cut'));
  const asked = ask('x');
  await at('x').end('compiled');
  await at('x').end('compiled');
  expect(await asked).toBe(grammar);
});

test.each<[CompileOutcome['end'], string]>([
  ['invalid', 'why'],
  ['overTime', '15 s of processor time or 45 s in all: make it smaller'],
  ['overMemory', '256 MiB'],
  ['crashed', 'why'],
])('one that ends %s is refused, again without work', async (end, message) => {
  const asked = expect(ask('x')).rejects.toMatchObject(failure('GrammarInvalid', message));
  await at('x').end(end, 'why');
  await asked;
  await expect(ask('x', 'b')).rejects.toMatchObject(failure('GrammarInvalid', message));
  expect(begun).toEqual(['x']);
});

test.each(['lost', 'killed', 'compiled'] as const)(
  'all that run are %s at the same time, while others wait: nothing begins without a place',
  async (end) => {
    const unhandled = jest.fn();
    process.on('unhandledRejection', unhandled);
    const asked = Array.from({ length: 8 }, (_, i) => ask(String(i), String(i)));
    await Promise.all(running.map((each) => each?.end(end) ?? turn()));
    await turn();
    expect(unhandled).not.toHaveBeenCalled();
    for (let i = 0; i < 12; i += 1) {
      await Promise.all(running.map((each) => each?.end('compiled') ?? turn()));
      await turn();
    }
    expect(await Promise.all(asked)).toEqual(asked.map(() => grammar));
    process.off('unhandledRejection', unhandled);
  },
);
