// A prompt that one engine computes and another answers: the same steps on both, with log probabilities.

import type { Admission, Engine, EngineOptions, StepPlan } from '@llmservice/native';
import { loadEngine } from '@llmservice/native';

import { plainOptions } from '../../native/ts/engine-options.fixture.js';
import { emptyPlan } from '../../native/ts/step-plan.fixture.js';
import { RankProcesses } from '../../runtime/src/engine/rank-processes.js';
import { greedy, noDrafts, room } from './engine-driver.js';
import type { Generated } from './engine-driver.js';
import { modelsDir, readGolden } from './golden-values.js';

/** What both engines are loaded with. */
export interface Alike {
  readonly model: string;
  readonly ranks: number;
  readonly kvCacheDtype: EngineOptions['kvCacheDtype'];
}

/** Of the offer. */
export const ticket = 'golden';
const generated = 12;
const blockSize = room.blockSize;
/** Tokens of the prompt that are computed by another: in whole blocks, to where a state may be saved. */
export const moved = 128;
const promptLength = 150;

export interface Loaded {
  readonly engine: Engine;
  dispose(): Promise<void>;
}

/** Each rank in a process of its own. @param port null: it only fetches */
export async function loadWithTransfer(
  { model, ranks: size, kvCacheDtype }: Alike,
  port: number | null,
): Promise<Loaded> {
  const options = {
    ...plainOptions,
    modelDir: modelsDir + model,
    ...room,
    speculative: noDrafts,
    kvCacheDtype,
  };
  const transfer = { port, identity: 'golden' };
  if (size === 1) {
    const engine = await loadEngine({ ...options, transfer }, () => undefined);
    return { engine, dispose: () => engine.dispose() };
  }
  const ranks = new RankProcesses(
    { ...options, transfer },
    { size, nodes: null, stages: null },
    () => undefined,
  );
  const engine = await loadEngine(ranks.options, () => undefined);
  ranks.joined();
  return {
    engine,
    dispose: async () => {
      ranks.closing();
      await engine.dispose();
    },
  };
}

export function blocksOf(first: number, count: number): number[] {
  return Array.from({ length: count }, (_, i) => first + i);
}

/**
 * The answer of a prompt whose first tokens lie in `cached` blocks, and whose other blocks begin at `own`. From the start where
 * nothing is cached: then the state after `moved` tokens is kept in the snapshot.
 */
export async function answer(
  engine: Engine,
  model: string,
  { cached, own, snapshot }: { cached: readonly number[]; own: number; snapshot: number },
): Promise<Generated> {
  const { hybrid } = engine.info;
  const prompt = readGolden(model).teacherForced.ids.slice(0, promptLength);
  const cachedTokens = cached.length * blockSize;
  const all = Math.ceil((promptLength + generated) / blockSize);
  const blocks = [...cached, ...blocksOf(own, all - cached.length)];
  const admission: Admission = {
    slot: 0,
    tokens: Int32Array.from(prompt),
    cachedTokens,
    snapshot: hybrid && cachedTokens > 0 ? snapshot : null,
    promptLength,
    maxLength: promptLength + generated,
    stopTokens: new Int32Array(),
    sampling: greedy,
    promptLogprobs: false,
    pooling: 'none',
    constraint: null,
    rules: null,
    adapter: 0,
  };
  const out: Generated = { tokens: [], logprobs: [] };
  const step = async (changes: Partial<StepPlan>): Promise<void> => {
    const result = await engine.step({ ...emptyPlan, ...changes });
    out.tokens.push(...result.tokens);
    out.logprobs.push(...result.logprobs);
  };
  await step({
    admit: [admission],
    blocks: Int32Array.from(blocks.flatMap((block) => [0, block])),
    rows: Int32Array.of(0, promptLength - cachedTokens),
    saves: hybrid && cachedTokens === 0 ? Int32Array.of(0, moved, snapshot) : new Int32Array(),
  });
  for (let i = 1; i < generated; i++) await step({ rows: Int32Array.of(0, 1) });
  await step({ release: Int32Array.of(0) });
  return out;
}
