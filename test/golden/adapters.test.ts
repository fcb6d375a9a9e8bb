// LoRA adapters against PEFT, beside the base and merged into it; and against the engine itself: who runs beside a sequence, by
// which adapter, and what is loaded meanwhile must not change a single bit.

import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { maxAdapterRank } from '@llmservice/checkpoint';
import { openAdapter, openCheckpoint } from '@llmservice/checkpoint/local';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { adapterParts, cpuIsas, type AdapterPart, type Engine, type EngineOptions } from '@llmservice/native';

import { greedy, loadGolden, noDrafts, run, score, type Job } from './engine-driver.js';
import { bars, type Golden } from './golden-values.js';
import { expectGreedy, expectScores, job, modelsDir } from './reference-bar.js';

jest.setTimeout(120_000);

interface AdapterGolden extends Golden {
  readonly base: string;
  /** Log-probabilities of the teacher-forced positions, with the adapter added to the base's weights. */
  readonly merged: readonly number[];
}

const adaptersDir = fileURLToPath(new URL('adapters/', import.meta.url));
const names = readdirSync(adaptersDir);
const goldenOf = (name: string): AdapterGolden =>
  JSON.parse(readFileSync(`${adaptersDir}${name}/golden.json`, 'utf8')) as AdapterGolden;
const llama = ['llama-patterns', 'llama-rank-8'];
/** Ranks would cut blocks of their bases, or columns that lie in another order. */
const onOneRank = ['qwen3-fp8-rank-4', 'qwen3-gptq-rank-8', 'llama-gguf-rank-6'];

async function partsOf(name: string, number: number): Promise<AdapterPart[]> {
  const { shape } = await openCheckpoint(modelsDir + goldenOf(name).base);
  return adapterParts(number, await openAdapter(adaptersDir + name, shape, maxAdapterRank));
}

async function loadAdapter(engine: Engine, name: string, number: number): Promise<void> {
  for (const part of await partsOf(name, number)) await engine.loadAdapter(part);
}

type How = Pick<EngineOptions, 'dtype'> & Partial<EngineOptions>;

/** With the adapters of `loaded`, numbered from 1. */
async function withAdapters<T>(
  base: string,
  loaded: readonly string[],
  how: How,
  work: (engine: Engine) => Promise<T>,
  ranks = 1,
): Promise<T> {
  const engine = await loadGolden(modelsDir + base, { threads: 1, ...how }, ranks);
  try {
    for (const [i, name] of loaded.entries()) await loadAdapter(engine, name, i + 1);
    return await work(engine);
  } finally {
    await engine.dispose();
  }
}

describe.each(names)('%s', (name) => {
  const golden = goldenOf(name);
  const { ids, margins } = golden.teacherForced;

  test.each([
    ...cpuIsas().map((isa) => ({ isa, dtype: 'float32', ranks: 1 }) as const),
    // Scales of 2 and of 6 magnify what rounding moves.
    ...(llama.includes(name) ? [] : [{ isa: 'float32', dtype: 'bfloat16', ranks: 1 } as const]),
    ...(onOneRank.includes(name) ? [] : [{ isa: 'auto', dtype: 'float32', ranks: 2 } as const]),
  ])('$ranks ranks on $isa in $dtype give PEFT’s tokens and logprobs', async ({ isa, dtype, ranks }) => {
    const bar = { ...bars[dtype], clearSteps: dtype === 'float32' ? 32 : 8 };
    const how = { isa: isa as EngineOptions['isa'], dtype };
    const { continued, scores } = await withAdapters(
      golden.base,
      [name],
      how,
      async (engine) => ({
        continued: await run(
          engine,
          golden.greedy.map(({ prompt }, i) => job(i, prompt, { adapter: 1 })),
        ),
        scores: await score(engine, ids, 512, 1),
      }),
      ranks,
    );
    expectGreedy(continued, golden, bar);
    expectScores(scores, golden, bar);
    expectScores(
      scores,
      { ...golden, teacherForced: { ...golden.teacherForced, logprobs: [...golden.merged] } },
      bar,
    );
    expect(margins.filter((margin) => margin >= bar.close).length).toBeGreaterThan(150);
  });
});

describe('in one batch', () => {
  const { ids } = goldenOf('llama-rank-8').teacherForced;
  let engine: Engine;
  beforeAll(async () => {
    engine = await loadGolden(modelsDir + 'llama-bf16', { dtype: 'bfloat16', threads: 1 });
    for (const [i, name] of llama.entries()) await loadAdapter(engine, name, i + 1);
  });
  afterAll(() => engine.dispose());

  const jobs: Job[] = Array.from({ length: 16 }, (_, i) =>
    job(i, ids.slice(i, i + [1, 7, 63, 64, 65, 100, 129, 200][i % 8]!), {
      count: 6 + (i % 7),
      sampling: i % 2 === 0 ? greedy : { ...greedy, temperature: 0.8, topP: 0.95, seed: BigInt(i) },
      joinsAt: Math.floor(i / 3),
      chunk: 64,
      adapter: i % 3,
    }),
  );

  test('16 sequences of two adapters and none give exactly what each gives alone', async () => {
    const alone = [];
    for (const single of jobs) alone.push(...(await run(engine, [{ ...single, slot: 0, joinsAt: 0 }])));
    expect(await run(engine, jobs)).toEqual(alone);
    const threaded = await withAdapters('llama-bf16', llama, { dtype: 'bfloat16', threads: 3 }, (other) =>
      run(other, jobs),
    );
    expect(threaded).toEqual(alone);
  });

  test('the adapters and the base say different things', async () => {
    const said = await run(
      engine,
      [0, 1, 2].map((adapter) => job(adapter, ids.slice(0, 20), { adapter })),
    );
    expect(new Set(said.map(({ tokens }) => tokens.join())).size).toBe(3);
  });

  test('drafts change no token', async () => {
    const repetitive = Array.from({ length: 16 }, (_, i) => ids[i % 4]!);
    const both = [1, 2].map((adapter) => job(adapter, repetitive, { adapter }));
    const plain = await run(engine, both);
    let drafted = 0;
    const speculative = { method: 'ngram', tokens: 3 } as const;
    const how = { dtype: 'bfloat16', speculative } as const;
    const verified = await withAdapters('llama-bf16', llama, how, (other) =>
      run(other, both, 3, (_, drafts) => (drafted += drafts.length)),
    );
    expect(verified).toEqual(plain);
    expect(drafted).toBeGreaterThan(0);
    expect(noDrafts.tokens).toBe(0);
  });

  test('an adapter comes and goes while sequences run, and fails whole', async () => {
    const wanted = await run(engine, jobs);
    const [part] = await partsOf('llama-rank-8', 3);
    const running = run(engine, jobs);
    const [first, ...others] = part!.pairs;
    await engine.loadAdapter({ ...part!, pairs: [first!], last: false });
    await expect(engine.loadAdapter({ ...part!, file: '/nowhere', pairs: others })).rejects.toMatchObject({
      reason: 'CheckpointIncomplete',
      message: expect.stringContaining('/nowhere cannot be opened'),
    });
    expect(await running).toEqual(wanted);
    await expect(run(engine, [job(15, ids.slice(0, 5), { adapter: 3 })])).rejects.toMatchObject({
      message: expect.stringContaining('uses adapter 3, which is not loaded'),
    });
    const runningAgain = run(engine, jobs);
    await engine.loadAdapter(part!);
    expect(await runningAgain).toEqual(wanted);
    await expect(engine.loadAdapter(part!)).rejects.toThrow('Adapter 3 is loaded already.');
    const [third, second] = await run(
      engine,
      [3, 2].map((adapter, slot) => job(slot, ids.slice(0, 20), { adapter })),
    );
    expect(third).toEqual(second);
    await engine.unloadAdapter(3);
    await expect(run(engine, [job(0, ids.slice(0, 5), { adapter: 3 })])).rejects.toThrow('not loaded');
    expect(await run(engine, jobs)).toEqual(wanted);
  });

  test('two ranks agree on a load that fails on both', async () => {
    await withAdapters(
      'llama-bf16',
      ['llama-rank-8'],
      { dtype: 'bfloat16' },
      async (ranks) => {
        const before = await run(ranks, [job(0, ids.slice(0, 20), { adapter: 1 })]);
        const [part] = await partsOf('llama-patterns', 2);
        await expect(ranks.loadAdapter({ ...part!, file: '/nowhere' })).rejects.toThrow('/nowhere');
        await ranks.loadAdapter(part!);
        expect(await run(ranks, [job(0, ids.slice(0, 20), { adapter: 1 })])).toEqual(before);
      },
      2,
    );
  });
});
