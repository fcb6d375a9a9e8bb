import { afterEach, expect, test } from '@jest/globals';
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeLogger } from '../log/logger.js';
import { tokenizerJson } from '../tokens/tokenizer.fixture.js';
import { Tokenizer } from '../tokens/tokenizer.js';
import { TextProcesses, type TextProcessesOptions } from './text-processes.js';
import { TextRefusal } from '../tokens/text-refusal.js';

const templateOf = (template: string): TextProcessesOptions['template'] => ({
  templates: [{ name: 'default', template }],
  specialTokens: {},
});
const opened: TextProcesses[] = [];
const processIds = new Set<number>();

async function start(options: Partial<TextProcessesOptions> = {}): Promise<TextProcesses> {
  const processes = await TextProcesses.start({
    tokenizerJson: tokenizerJson(),
    tokenizerName: 'tokenizer.json',
    template: null,
    roomMb: 512,
    logger: makeLogger('error'),
    ...options,
  });
  opened.push(processes);
  return processes;
}

/** The same tokenizer with another pattern. */
function withPattern(Regex: string): string {
  const file = JSON.parse(tokenizerJson()) as { pre_tokenizer: { pretokenizers: { pattern: object }[] } };
  file.pre_tokenizer.pretokenizers[0]!.pattern = { Regex };
  return JSON.stringify(file);
}

afterEach(async () => {
  for (const { pids } of opened) for (const pid of pids) processIds.add(pid);
  await Promise.all(opened.splice(0).map((processes) => processes.close()));
  for (const pid of processIds) expect(existsSync(`/proc/${String(pid)}`)).toBe(false);
});

const texts = ['', 'hello<|end|> world', '日本語 👩‍👩‍👧 e\u0301', 'lone \ud800 surrogate', '\u0000\ufeff \r\n'];

test('gives the ids that the server itself would', async () => {
  const processes = await start();
  const tokenizer = Tokenizer.fromJson(tokenizerJson(), 'tokenizer.json');
  for (const text of [...texts, 'hello world '.repeat(20_000)]) {
    for (const addSpecialTokens of [true, false]) {
      const [near, far] = await Promise.all([
        tokenizer.encode(text, { addSpecialTokens }),
        processes.encode(text, addSpecialTokens),
      ]);
      expect(far).toEqual(near);
    }
  }
});

// The pattern passes the retry limit of its library, which ends the process.
test('a text that ends its process is refused, and others are not', async () => {
  const processes = await start();
  const deadly = processes.encode(`x${' '.repeat(11_000_000)}x`, false);
  const others = Promise.all(Array.from({ length: 20 }, () => processes.encode('hello', false)));
  await expect(deadly).rejects.toThrow(TextRefusal);
  expect((await others).map(({ length }) => length)).toEqual(Array<number>(20).fill(1));
  expect(await processes.encode('hello', false)).toHaveLength(1);
});

test('a text that takes more memory than a process may have is refused', async () => {
  const processes = await start();
  await expect(processes.encode('a'.repeat(15_000_000), false)).rejects.toThrow(/MB of memory/);
  expect(await processes.encode('hello', false)).toHaveLength(1);
});

test('one long text after the other finds the memory that it needs', async () => {
  const processes = await start();
  const text = 'The quick brown fox jumps over the lazy dog. '.repeat(20_000);
  const lengths = new Set<number>();
  for (let i = 0; i < 4; i++) lengths.add((await processes.encode(text, false)).length);
  expect(lengths.size).toBe(1);
});

test('what a client that left asked for is ended', async () => {
  const processes = await start();
  const leaving = new AbortController();
  const [first] = processes.pids;
  // It gets the text, and is never through with it.
  process.kill(first!, 'SIGSTOP');
  const encoding = processes.encode('a'.repeat(4_000_000), false, leaving.signal);
  await sleep(5);
  leaving.abort(new Error('the client went away'));
  await expect(encoding).rejects.toThrow('the client went away');
  while (processes.pids.includes(first!)) await sleep(20);
  expect(await processes.encode('hello', false)).toHaveLength(1);
});

test('one that left while it waited costs nothing', async () => {
  const processes = await start();
  const left = AbortSignal.abort(new Error('gone'));
  await expect(processes.encode('hello', false, left)).rejects.toThrow('gone');
});

const growing = {
  'a loop without end':
    '{% macro m() %}{% for a in range(100000) %}{% for b in range(100000) %}{% endfor %}{% endfor %}{% endmacro %}{{ m() }}',
  'a long list': '{{ range(100000000) | length }}',
  'doublings by replace':
    "{% set n = namespace(s='xxxxxxxx') %}{% for i in range(9) %}{% set n.s = n.s.replace('x', 'x' * 0 ~ 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx') %}{% endfor %}{{ n.s }}",
  'nested lists':
    "{% set n = namespace(a=['xxxxxxxxxxxxxxxx']) %}{% for i in range(40) %}{% set n.a = [n.a, n.a] %}{% endfor %}{{ n.a }}",
};
test.each(Object.entries(growing))('a template of %s is refused', async (_, template) => {
  const processes = await start({ template: templateOf(template) });
  expect(await processes.render({ messages: [] })).toMatchObject({ kind: 'refused' });
  expect(await processes.encode('hello', false)).toHaveLength(1);
});

test.each([
  ['(a+)+$', /ends the process that reads it/],
  ['(x+x+)+y', /ends the process that reads it/],
])('a tokenizer with the pattern %s cannot be used', async (pattern, why) => {
  await expect(start({ tokenizerJson: withPattern(pattern) })).rejects.toMatchObject({
    reason: 'TokenizerInvalid',
    message: expect.stringMatching(why),
  });
});

test('a tokenizer with a harmless pattern of its own can', async () => {
  const processes = await start({ tokenizerJson: withPattern('[a-z]+|\\s|[^a-z\\s]') });
  expect(await processes.encode('hello', false)).toHaveLength(1);
});

test('a process has no variables of the server but the zone of its dates', async () => {
  const processes = await start();
  const [pid] = processes.pids;
  const names = readFileSync(`/proc/${String(pid)}/environ`, 'utf8')
    .split('\0')
    .map((variable) => variable.split('=')[0])
    .filter((name) => name !== '');
  const expected = ['NODE_CHANNEL_FD', 'NODE_CHANNEL_SERIALIZATION_MODE', 'PWD', 'RAYON_NUM_THREADS'];
  expect(names.filter((name) => name !== 'TZ').sort()).toEqual(
    [...expected, 'TOKENIZERS_PARALLELISM', 'UV_THREADPOOL_SIZE'].sort(),
  );
});
