// Checkpoints with a value that is not a number, in a real engine: who fails and who does not, what they get, and
// what becomes of the engine.

import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { createLogger } from 'winston';
import { EngineClient } from '../../runtime/src/engine/engine-client.js';
import type { EngineSettings, GenerateRequest } from '../../runtime/src/engine/protocol.js';
import { generateRequest, greedy } from '../../runtime/src/schedule/generate-request.fixture.js';
import { modelsDir, readGolden } from '../golden/golden-values.js';
import { eventually } from '../processes.js';
import { bf16, damagedCheckpoint, discard, type Damage } from '../builders/damaged-checkpoint.js';
import { engineSettings } from './engine-settings.js';

jest.setTimeout(120_000);

const logger = createLogger({ silent: true });
const room = { maxNumSeqs: 8, maxNumBatchedTokens: 128 };

let client: EngineClient | null = null;
let copies: string[] = [];
afterEach(async () => {
  await client?.stop();
  copies.forEach(discard);
  copies = [];
});

async function start(
  name: string,
  damages: readonly Damage[],
  changes: Partial<EngineSettings> = {},
): Promise<EngineClient> {
  const modelDir = damagedCheckpoint(modelsDir + name, damages);
  copies.push(modelDir);
  client = new EngineClient(engineSettings(modelDir, { ...room, ...changes }), logger);
  await client.start();
  return client;
}

const badToken = 9;
const embedding = (tensor: string, width: number): Damage => ({
  tensor,
  index: badToken * width + 5,
  bits: bf16.nan,
});

let requests = 0;
/** `length` tokens, none of them bad. */
const goodPrompt = (length: number): number[] =>
  Array.from({ length }, (_, i) => 10 + ((i * 37 + length) % 290));
/** Greedy, in a sampling that can not sample the bad token. */
const request = (prompt: readonly number[], changes: Partial<GenerateRequest> = {}): GenerateRequest =>
  generateRequest(`request-${String(requests++)}`, prompt, {
    maxTokens: 4,
    sampling: { ...greedy, topLogprobs: 1 },
    ...changes,
  });

async function logprobsOf(engine: EngineClient, asked: GenerateRequest): Promise<number[]> {
  const logprobs: number[] = [];
  const { signal } = new AbortController();
  for await (const output of engine.submit(asked, { signal })) {
    logprobs.push(...(output.logprobs ?? []).map(({ logprob }) => logprob));
  }
  return logprobs;
}

const failureOfRequest = (engine: EngineClient, asked: GenerateRequest): Promise<unknown> =>
  logprobsOf(engine, asked).then(
    () => null,
    (error: unknown) => error,
  );

/** Reported with the step after the last. */
async function expectIdle(engine: EngineClient): Promise<void> {
  await eventually('an idle engine', () => engine.stats?.running === 0);
  expect(engine.stats).toMatchObject({ waiting: 0, blocksUsed: 0 });
}

describe.each([
  ['llama-bf16', 'model.embed_tokens.weight', 96],
  ['qwen3_5-bf16', 'model.language_model.embed_tokens.weight', 72],
  ['qwen3_5_moe-bf16', 'model.language_model.embed_tokens.weight', 72],
] as const)('one bad embedding of %s', (name, tensor, width) => {
  const bad = (length: number, at: number): number[] => goodPrompt(length).with(at, badToken);

  test.each([1, 2])(
    'fails those who have the token, and changes no bit of the others, on %i ranks',
    async (ranks) => {
      const engine = await start(name, [embedding(tensor, width)], { tensor: ranks });
      const prompts = [3, 70, 140, 20, 65].map(goodPrompt);
      const alone: number[][] = [];
      for (const prompt of prompts) alone.push(await logprobsOf(engine, request(prompt)));
      const good = prompts.map((prompt) => logprobsOf(engine, request(prompt)));
      const failing = [bad(5, 4), bad(200, 100), bad(90, 0)].map((prompt) =>
        failureOfRequest(engine, request(prompt)),
      );
      const errors = await Promise.all(failing);
      expect(await Promise.all(good)).toEqual(alone);
      errors.forEach((error, i) => {
        const position = [4, 100, 0][i];
        expect(error).toMatchObject({
          reason: 'EngineNumericalFault',
          message: expect.stringContaining('(embedding)'),
          detail: { kind: 'notFinite', part: 'embedding', position },
        });
      });
      expect(engine.health()).toMatchObject({ restarts: 0, numericalFaults: { notFinite: 3 } });
      await expectIdle(engine);
    },
  );

  test('leaves nothing behind that the next prompts could reuse', async () => {
    const engine = await start(name, [embedding(tensor, width)]);
    const shared = goodPrompt(192);
    const before = await logprobsOf(engine, request([...shared, 50, 51], { boundaries: [192] }));
    for (const at of [64, 192, 193]) {
      const prompt = [...shared, 50, 51].with(at, badToken);
      expect(await failureOfRequest(engine, request(prompt, { boundaries: [192] }))).toMatchObject({
        detail: { part: 'embedding', position: at },
      });
      expect(await logprobsOf(engine, request([...shared, 50, 51], { boundaries: [192] }))).toEqual(before);
    }
    await expectIdle(engine);
  });

  test('may be asked for again and again: the engine answers everybody else, and is not rebuilt', async () => {
    const engine = await start(name, [embedding(tensor, width)]);
    const { pid } = engine.health();
    const asked = performance.now();
    expect(await failureOfRequest(engine, request(bad(4, 2)))).toMatchObject({
      reason: 'EngineNumericalFault',
    });
    const took = performance.now() - asked;
    process.stdout.write(`a value that is not finite: reported after ${took.toFixed(0)} ms\n`);
    for (let i = 1; i < 7; i++) {
      expect(await failureOfRequest(engine, request(bad(4 + i, 2)))).toMatchObject({
        reason: 'EngineNumericalFault',
      });
    }
    expect(await logprobsOf(engine, request(goodPrompt(5)))).toHaveLength(4);
    expect(engine.health()).toMatchObject({ pid, restarts: 0, numericalFaults: { notFinite: 7 } });
  });
});

describe('a layer whose weights are bad', () => {
  const layer = 'model.language_model.layers.2.';

  test.each([
    [1, 'input_layernorm.weight', bf16.nan, 'layer 2, input norm'],
    [1, 'self_attn.v_proj.weight', bf16.infinity, 'layer 2, attention'],
    [1, 'mlp.down_proj.weight', bf16.nan, 'layer 2, feed-forward'],
    [2, 'mlp.down_proj.weight', bf16.nan, 'layer 2, feed-forward'],
  ])('on %i ranks never serves: the load fails and names it (%s)', async (tensor, weight, bits, named) => {
    const engine = await start('qwen3_5-bf16', [{ tensor: layer + weight, index: 0, bits }], { tensor });
    expect(engine.health()).toMatchObject({
      state: {
        kind: 'failed',
        failure: { reason: 'EngineNumericalFault', detail: { kind: 'notFinite', layer: 2 } },
      },
      pid: null,
    });
    expect(JSON.stringify(engine.health().state)).toContain(named);
    await expect(logprobsOf(engine, request([1]))).rejects.toMatchObject({ reason: 'EngineNumericalFault' });
  });
});

describe('speculation', () => {
  const name = 'qwen3_5-bf16';
  const embeddings = 'model.language_model.embed_tokens.weight';
  const { prompt, tokens: said } = readGolden(name).greedy[0]!;
  const { runs } = JSON.parse(readFileSync(`${modelsDir}${name}/drafts.json`, 'utf8')) as {
    runs: { tokens: number[][] }[];
  };
  const drafted = new Set(runs[0]!.tokens.flat());
  const asked = request(prompt, { maxTokens: 12 });
  const methods = ['ngram', 'mtp'] as const;
  const spoiled = (tokens: Iterable<number>): Damage[] =>
    Array.from(tokens, (token) => ({ tensor: embeddings, index: token * 72 + 5, bits: bf16.nan }));

  /** What a request got before it ended, and how it failed. */
  async function answerOf(damages: readonly Damage[], method: 'none' | 'ngram' | 'mtp'): Promise<object> {
    // The reference's tokens hang on close calls.
    const engine = await start(name, damages, { exactness: 'float32', speculative: { method, tokens: 3 } });
    const tokens: number[] = [];
    const logprobs: number[] = [];
    let failure: unknown = null;
    try {
      const { signal } = new AbortController();
      for await (const output of engine.submit({ ...asked, id: method }, { signal })) {
        tokens.push(...output.tokens);
        logprobs.push(...(output.logprobs ?? []).map(({ logprob }) => logprob));
      }
    } catch (error) {
      failure = (error as { detail: unknown }).detail;
    }
    await expectIdle(engine);
    const { numericalFaults, restarts } = engine.health();
    const { draftTokensTotal } = engine.stats!.drafts;
    await engine.stop();
    return { answer: { tokens, logprobs, failure, numericalFaults, restarts }, draftTokensTotal };
  }

  test('fails nobody by drafts that are rejected, though their rows are not finite', async () => {
    const bad = [...drafted].filter((token) => !said.includes(token) && !prompt.includes(token));
    expect(bad.length).toBeGreaterThan(20);
    const { answer } = (await answerOf([], 'none')) as { answer: object };
    expect(answer).toMatchObject({ tokens: said.slice(0, 12), failure: null });
    const drafting = await answerOf(spoiled(bad), 'mtp');
    expect(drafting).toEqual({ answer, draftTokensTotal: expect.any(Number) });
    expect(drafting).not.toMatchObject({ draftTokensTotal: 0 });
  });

  test.each(methods)(
    'with %s drafts reports of a fault what is reported without, after the same tokens',
    async (method) => {
      const damages = spoiled([said[7]!]);
      const { answer } = (await answerOf(damages, 'none')) as { answer: object };
      expect(answer).toMatchObject({
        tokens: said.slice(0, 8),
        failure: { kind: 'notFinite', part: 'embedding', position: prompt.length + 7 },
        numericalFaults: { notFinite: 1 },
      });
      expect(await answerOf(damages, method)).toMatchObject({ answer });
    },
  );

  test('by a layer with non-finite logits drafts nothing, and answers all the same', async () => {
    const { answer } = (await answerOf([], 'none')) as { answer: object };
    const damages = [{ tensor: 'mtp.layers.0.mlp.down_proj.weight', index: 3, bits: bf16.nan }];
    expect(await answerOf(damages, 'mtp')).toEqual({ answer, draftTokensTotal: 0 });
  });
});
