// Five hundred schemas of every kind, asked of a model of random weights: whatever the logits say, an answer that ends
// follows its schema, by the judgement of another implementation of JSON Schema.

import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

import { llamaConfig, llamaTensors } from '../builders/llama.js';
import { randomSchema } from '../builders/random-schemas.js';
import { bf16Noise, safetensors } from '../builders/safetensors.js';
import { demoCheckpoint, ReplicaProcess } from './replica-process.js';

jest.setTimeout(300_000);

/** As many as CI has time for on slow machines; `make prove` asks 500. */
const count = Number(process.env['SCHEMAS'] ?? 200);
const folder = mkdtempSync(join(tmpdir(), 'llmservice-schemas-'));
let replica: ReplicaProcess;

beforeAll(async () => {
  for (const name of ['tokenizer.json', 'tokenizer_config.json']) {
    cpSync(join(demoCheckpoint, name), join(folder, name));
  }
  const demo = JSON.parse(readFileSync(join(demoCheckpoint, 'config.json'), 'utf8')) as {
    readonly vocab_size?: number;
    readonly text_config?: { readonly vocab_size: number };
  };
  const vocab = demo.text_config?.vocab_size ?? demo.vocab_size!;
  const size = { layers: 1, hidden: 64, heads: 4, kvHeads: 2, headDim: 16, ffn: 128, vocab };
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ ...llamaConfig(size), eos_token_id: 0 }));
  writeFileSync(join(folder, 'model.safetensors'), safetensors(llamaTensors(size), bf16Noise()));
  replica = await ReplicaProcess.start({ uri: folder });
  await replica.ready();
});
afterAll(async () => {
  await replica.stop();
  rmSync(folder, { recursive: true });
});

/** Numbers that depend on the seed alone: mulberry32. */
function chooser(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}

interface Completion {
  readonly choices?: readonly { readonly text: string; readonly finish_reason: string }[];
  readonly error?: { readonly message: string };
}

async function answer(schema: object, seed: number): Promise<Completion> {
  const response = await replica.post('/v1/completions', {
    prompt: 'x',
    guided_json: schema,
    max_tokens: 500,
    temperature: 1,
    seed,
  });
  return (await response.json()) as Completion;
}

test('every answer that ends follows its schema', async () => {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  const schemas = Array.from({ length: count }, (_, i) => randomSchema(i, chooser(i)));
  const wrong: object[] = [];
  let ended = 0;
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < count) {
      const index = next++;
      const schema = schemas[index]!;
      const { choices, error } = await answer(schema, index);
      const [choice] = choices ?? [];
      if (choice === undefined) wrong.push({ index, schema, error });
      else if (choice.finish_reason === 'stop') {
        ended += 1;
        const problem = problemOf(ajv, schema, choice.text);
        if (problem !== null) wrong.push({ index, schema, text: choice.text, problem });
      }
    }
  };
  await Promise.all(Array.from({ length: 32 }, work));
  expect(wrong).toEqual([]);
  expect(ended).toBeGreaterThan(0.9 * count);
});

function problemOf(ajv: Ajv2020, schema: object, text: string): string | null {
  try {
    const validate = ajv.compile(schema);
    return validate(JSON.parse(text)) ? null : ajv.errorsText(validate.errors);
  } catch (error) {
    return (error as Error).message;
  }
}
