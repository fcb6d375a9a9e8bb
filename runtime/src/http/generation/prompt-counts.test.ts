// Whose prompts are counted, and when: those that the engine has begun with, an answer without tokens and an embedding too.

import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { FailureError } from '@llmservice/crds';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FinishedGeneration } from '../../observe/ended-request.js';
import { output } from '../scripted-engine.fixture.js';
import { ScriptedServer } from '../scripted-server.fixture.js';

let server: ScriptedServer;
beforeEach(async () => {
  server = await ScriptedServer.start();
});
afterEach(() => server.stop());

const embedding = { ...output([], 'stop'), embedding: Float32Array.of(1, 0) };
const prompt = 'five5';
/** A token per byte, and one that begins the text. */
const promptTokens = 6;

async function metric(name: string): Promise<number> {
  const page = await (await server.get('/metrics')).text();
  return Number(new RegExp(`^${name}(?:\\{.*\\})? (.*)$`, 'm').exec(page)?.[1]);
}

/** Of the one request. */
async function generation(): Promise<FinishedGeneration> {
  while (server.ended.length === 0) await sleep(5);
  return server.ended[0]!.generations[0]!;
}

test.each([
  ['/v1/completions', { prompt }],
  ['/v1/embeddings', { input: prompt }],
])('%s: one that waited in vain is not charged with its prompt', async (path, body) => {
  // eslint-disable-next-line require-yield
  server.script = function* () {
    throw new FailureError('QueueTimeout', 'waited 1001 ms for room');
  };
  expect((await server.post(path, body)).status).toBe(503);
  expect((await generation()).usage.promptTokens).toBe(0);
});

test.each([
  ['an answer', '/v1/completions', { prompt, max_tokens: 2 }, output([65, 65], 'length')],
  [
    'an answer that was to have no tokens',
    '/v1/completions',
    { prompt, max_tokens: 0, echo: true },
    output([65], 'length'),
  ],
  ['an embedding', '/v1/embeddings', { input: prompt }, embedding],
])('%s counts its prompt once', async (_, path, body, only) => {
  server.script = () => [only];
  expect((await server.post(path, body)).status).toBe(200);
  expect((await generation()).usage.promptTokens).toBe(promptTokens);
  expect(await metric('vllm:prompt_tokens_total')).toBe(promptTokens);
});

test('an embedding asks for no number of tokens', async () => {
  server.script = () => [embedding];
  await server.post('/v1/embeddings', { input: prompt });
  expect((await generation()).maxTokens).toBeNull();
});
