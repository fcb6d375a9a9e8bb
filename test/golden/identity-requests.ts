// 64 requests of every kind of sampling and every length around the borders of chunks and blocks, half of them with one
// beginning, and the orders in which they may come.

import type { SamplingParams } from '@llmservice/native';

import { generateRequest, greedy } from '../../runtime/src/schedule/generate-request.fixture.js';
import type { GenerateRequest } from '../../runtime/src/schedule/generation.js';
import type { Arrival } from './scheduled-run.js';

const lengths = [1, 2, 15, 16, 17, 63, 64, 65, 100, 127, 128, 129, 150, 191, 192, 193];

const samplings: readonly Partial<SamplingParams>[] = [
  {},
  { topLogprobs: 5 },
  { temperature: 0.8 },
  { temperature: 1.1, topP: 0.9, topK: 40, minP: 0.02, topLogprobs: 0 },
  { repetitionPenalty: 1.3 },
  { temperature: 0.7, presencePenalty: 0.6, frequencyPenalty: 0.4, topLogprobs: 20 },
  { temperature: 0.9, topK: 7, repetitionPenalty: 1.1 },
];

/** @param text at least 257 ids to cut prompts from */
export function sixtyFourRequests(text: readonly number[]): GenerateRequest[] {
  return Array.from({ length: 64 }, (_, i) => {
    const length = lengths[i % lengths.length]!;
    // Every second one begins as all such do; the others begin somewhere else each.
    const start = i % 2 === 0 ? 0 : 1 + ((i * 7) % 64);
    const prompt = text.slice(start, start + length - 1).concat(text[(i * 11) % text.length]!);
    const sampling = { ...greedy, ...samplings[i % samplings.length], seed: BigInt(i) };
    return generateRequest(`request-${String(i)}`, prompt, { maxTokens: 6 + (i % 13), sampling });
  });
}

/** All before the first step. */
export function atOnce(requests: readonly GenerateRequest[]): Arrival[] {
  return requests.map((request) => ({ step: 0, request }));
}

/** In an order and at steps drawn from `seed`. */
export function inRandomOrder(requests: readonly GenerateRequest[], seed: number): Arrival[] {
  const draw = drawFrom(seed);
  return requests
    .map((request) => ({ request, rank: draw() }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ request }) => ({ request, step: Math.floor(draw() * 40) }));
}

/** Uniform numbers in [0, 1): mulberry32. */
function drawFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
