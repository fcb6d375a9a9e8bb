import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { readCheckpointDefaults } from './read-checkpoint-defaults.js';

const tokenizer = { tokenId: (token: string) => (token === '<|im_end|>' ? 45 : null) };

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'checkpoint-'));
});
afterEach(async () => {
  await rm(dir, { recursive: true });
});

async function eosIds(files: Readonly<Record<string, object>>): Promise<readonly number[]> {
  for (const [name, content] of Object.entries(files))
    await writeFile(join(dir, name), JSON.stringify(content));
  return (await readCheckpointDefaults(dir, null, tokenizer)).eosIds;
}

// vLLM's engine ends a text at the tokenizer's eos_token and at those of generation_config.json.
test.each([
  [43, '<|im_end|>', [43, 45]],
  [[43, 45], { content: '<|im_end|>', special: true }, [43, 45]],
  [43, '<|unknown|>', [43]],
  [43, null, [43]],
])('ends texts at %j and at the tokenizer’s %j', async (configured, token, ids) => {
  const files = {
    'config.json': { eos_token_id: 42 },
    'generation_config.json': { eos_token_id: configured },
    'tokenizer_config.json': { eos_token: token },
  };
  expect(await eosIds(files)).toEqual(ids);
});

test('ends texts at what config.json says where nothing else does', async () => {
  expect(await eosIds({ 'config.json': { text_config: { eos_token_id: [42] } } })).toEqual([42]);
});

test('ends texts of a vocabulary of Harmony with an answer and with a call, whatever the files name', async () => {
  const ids: Readonly<Record<string, number>> = Object.fromEntries(
    ['return', 'constrain', 'channel', 'start', 'end', 'message', 'call'].map((mark, i) => [
      `<|${mark}|>`,
      i,
    ]),
  );
  await writeFile(join(dir, 'config.json'), JSON.stringify({ eos_token_id: 0 }));
  const read = await readCheckpointDefaults(dir, null, { tokenId: (token) => ids[token] ?? null });
  expect(read.eosIds).toEqual([0, 6]);
});

test.each([
  ['where Gemma 4 begins the result of a call', { '<|tool_call>': 48, '<|tool_response>': 50 }, [1, 50]],
  ['at no result of a vocabulary without calls', { '<|tool_response>': 50 }, [1]],
])('ends texts %s, whatever the files name', async (_, ids: Readonly<Record<string, number>>, expected) => {
  await writeFile(join(dir, 'config.json'), JSON.stringify({ eos_token_id: 1 }));
  const read = await readCheckpointDefaults(dir, null, { tokenId: (token) => ids[token] ?? null });
  expect(read.eosIds).toEqual(expected);
});

test.each([
  ['generation_config.json', `[${'[],'.repeat(2 ** 18)}[]]`, 'has more than 200000 values'],
  ['generation_config.json', ' '.repeat(2 ** 21), 'far more than such a file takes'],
  ['tokenizer_config.json', `{"a":${'['.repeat(1000)}`, 'nested deeper than 64 levels'],
  ['config.json', '[]', 'is not a JSON object'],
])('a hostile %s is refused by name', async (name, text, part) => {
  await writeFile(join(dir, name), text);
  const read = readCheckpointDefaults(dir, null, tokenizer);
  await expect(read).rejects.toMatchObject({ reason: 'CheckpointCorrupt' });
  await expect(read).rejects.toThrow(part);
});
