// One combination against the reference: what of it is wrong, in words; nothing when all is as it must be.

import type { Engine, Speculation } from '@llmservice/native';

import { generateRequest } from '../../../runtime/src/schedule/generate-request.fixture.js';
import type { GenerateRequest } from '../../../runtime/src/schedule/generation.js';
import { greedy, loadGolden, room, score } from '../engine-driver.js';
import { cpuReference } from '../cpu-reference.js';
import { allowedOff, type Bar, clearSteps, furthest, type Golden } from '../golden-values.js';
import { type Answer, serve } from '../scheduled-run.js';
import type { Combination, EngineChoice } from './combinations.js';

const maxNumSeqs = 8;
/** By when all that came at once has ended. */
const secondWave = 200;
const positions = 200;

export async function loadChoice(choice: EngineChoice, modelsDir: string): Promise<Engine> {
  const { model, dtype, tensor } = choice;
  const speculative = speculativeOf(choice);
  return loadGolden(modelsDir + model, { dtype, logitHashes: true, speculative }, tensor);
}

export async function checkCombination(engine: Engine, combination: Combination): Promise<string[]> {
  const { golden, bar } = cpuReference(combination.model, 'auto', combination.dtype);
  return [
    ...(await greedyProblems(engine, golden, bar, combination)),
    ...(await teacherForcedProblems(engine, golden, bar, combination)),
    ...(combination.cache === 'on' ? await cacheProblems(engine, golden, combination) : []),
  ];
}

function speculativeOf({ speculation: method }: EngineChoice): Speculation {
  return { method, tokens: method === 'none' ? 0 : 3 };
}

function limitsOf(combination: Combination): Parameters<typeof serve>[1] {
  const { cache, chunk } = combination;
  const speculative = speculativeOf(combination);
  const maxNumBatchedTokens = maxNumSeqs * (1 + speculative.tokens) + chunk;
  return { ...room, maxNumSeqs, maxNumBatchedTokens, prefixCaching: cache === 'on', speculative };
}

/** All prompts at once, and then once more, when the cache has them if it is on. */
async function greedyProblems(
  engine: Engine,
  golden: Golden,
  bar: Bar,
  combination: Combination,
): Promise<string[]> {
  const waves = [0, secondWave].flatMap((step) =>
    golden.greedy.map(({ prompt, tokens }, i) => ({
      step,
      request: generateRequest(`${step}/${i}`, prompt, { maxTokens: tokens.length, sampling: greedy }),
    })),
  );
  const { answers, stats } = await serve(engine, limitsOf(combination), waves);
  const problems = waves.flatMap(({ request }, i) =>
    differences(answers.get(request.id)!, golden.greedy[i % golden.greedy.length]!, bar).map(
      (problem) => `greedy after ${request.prompt.length} tokens: ${problem}`,
    ),
  );
  const hits = stats.prefixCacheHitsTotal;
  if (combination.cache === 'on' && hits === 0) problems.push('the prefix cache was never hit');
  if (combination.cache === 'off' && hits > 0)
    problems.push(`the prefix cache is off and was hit ${hits} times`);
  return problems;
}

function differences(
  { tokens, logprobs }: Answer,
  wanted: Golden['greedy'][number],
  { allowed, close }: Bar,
): string[] {
  const steps = clearSteps(wanted, close);
  const wrong = wanted.tokens.slice(0, steps).findIndex((token, i) => token !== tokens[i]);
  if (wrong !== -1) return [`token ${wrong} is ${tokens[wrong]}, not ${wanted.tokens[wrong]}`];
  const got = logprobs.map((each) => each?.logprob ?? NaN);
  return tooFar(furthest(got, wanted.logprobs.slice(0, steps)), allowed);
}

async function teacherForcedProblems(
  engine: Engine,
  { teacherForced }: Golden,
  { allowed, close }: Bar,
  { chunk }: Combination,
): Promise<string[]> {
  const { ids, logprobs, inFloat32, margins, argmax } = teacherForced;
  const got = await score(engine, ids, chunk);
  const off = furthest(got.logprobs, logprobs, inFloat32);
  const problems = tooFar(off, allowedOff(teacherForced, allowed));
  if (logprobs.length < positions) problems.push(`only ${logprobs.length} positions`);
  const wrong = argmax.findIndex((token, i) => margins[i]! >= close && token !== got.best[i]);
  if (wrong !== -1) problems.push(`the likeliest at ${wrong} is ${got.best[wrong]}, not ${argmax[wrong]}`);
  return problems.map((problem) => `teacher-forced: ${problem}`);
}

/** Logits at 200 positions of a text, read from prompts that grow and find the rest in the cache, without it. */
async function cacheProblems(engine: Engine, golden: Golden, combination: Combination): Promise<string[]> {
  const { ids } = golden.teacherForced;
  const requests = Array.from({ length: positions }, (_, i) =>
    generateRequest(String(i), ids.slice(0, ids.length - positions + i), { maxTokens: 1 }),
  );
  const apart = (each: GenerateRequest, step: number): { step: number; request: GenerateRequest } => ({
    step,
    request: each,
  });
  const limits = limitsOf(combination);
  const cached = await serve(engine, limits, requests.map(apart));
  const uncached = await serve(engine, { ...limits, prefixCaching: false }, requests.map(apart));
  const wrong = requests.find(
    ({ id }) => cached.answers.get(id)!.logitHashes[0] !== uncached.answers.get(id)!.logitHashes[0],
  );
  const problems = wrong === undefined ? [] : [`cached: other logits after ${wrong.prompt.length} tokens`];
  const share = cached.stats.prefixCacheHitsTotal / cached.stats.prefixCacheQueriesTotal;
  if (share < 0.5) problems.push(`cached: only ${(share * 100).toFixed(0)} % of the prompts were found`);
  return problems;
}

function tooFar(distance: number, allowed: number): string[] {
  return distance < allowed ? [] : [`a logprob is off by ${distance.toFixed(4)}, allowed are ${allowed}`];
}
