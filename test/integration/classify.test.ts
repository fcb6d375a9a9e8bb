// A checkpoint with a head that classifies, through a whole replica.

import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { demoCheckpoint, ReplicaProcess } from './replica-process.js';

jest.setTimeout(120_000);

const classifier = fileURLToPath(new URL('../golden/classifiers/gemma2-classes', import.meta.url));
const golden = JSON.parse(readFileSync(join(classifier, 'labels.json'), 'utf8')) as {
  readonly prompt: number[];
  readonly logits: number[];
}[];
const folder = mkdtempSync(join(tmpdir(), 'llmservice-classify-'));
let replica: ReplicaProcess;
beforeAll(async () => {
  cpSync(classifier, folder, { recursive: true });
  for (const name of ['tokenizer.json', 'tokenizer_config.json'])
    cpSync(join(demoCheckpoint, name), join(folder, name));
  replica = await ReplicaProcess.start({ uri: folder, engine: { dtype: 'float32' } });
  await replica.ready();
});
afterAll(async () => {
  await replica.stop();
  rmSync(folder, { recursive: true });
});

interface Answer {
  readonly data: readonly { readonly label: string; readonly probs: number[] }[];
  readonly error: { readonly code: string };
}

async function post(path: string, body: object): Promise<{ status: number; answer: Answer }> {
  const response = await fetch(replica.url + path, { method: 'POST', body: JSON.stringify(body) });
  return { status: response.status, answer: (await response.json()) as Answer };
}

test('labels have the logits of the reference, all prompts at once, and probabilities of them', async () => {
  const input = golden.map(({ prompt }) => prompt);
  const raw = await post('/classify', { input, use_activation: false });
  expect(raw.status).toBe(200);
  const { answer } = await post('/classify', { input });
  golden.forEach(({ logits }, i) => {
    const exponents = logits.map(Math.exp);
    const sum = exponents.reduce((total, each) => total + each, 0);
    logits.forEach((logit, label) => {
      expect(raw.answer.data[i]!.probs[label]).toBeCloseTo(logit, 3);
      expect(answer.data[i]!.probs[label]).toBeCloseTo(exponents[label]! / sum, 3);
    });
    const best = logits.indexOf(Math.max(...logits));
    expect(answer.data[i]!.label).toBe(['safe', 'unsafe', 'unclear'][best]);
  });
});

test('it embeds, and generates nothing', async () => {
  expect((await post('/v1/embeddings', { input: [5, 6] })).status).toBe(200);
  const { status, answer } = await post('/v1/completions', { prompt: [5, 6], max_tokens: 2 });
  expect([status, answer.error.code]).toEqual([400, 'task_not_supported']);
});
