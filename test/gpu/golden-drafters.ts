// Golden draft models on a device: they propose what the reference proposes with activations rounded as GPUs round them, and what is
// said with them is what is said without, to the bit.

import assert from 'node:assert/strict';
import type { Engine, EngineOptions } from '@llmservice/native';

import { expectProposals, drafts, readDrafter, readDraftsOnGpu } from '../golden/drafter-proposals.js';
import { type Generated, greedy, loadGolden, run } from '../golden/engine-driver.js';
import type { Golden } from '../golden/golden-values.js';
import { job } from '../golden/reference-bar.js';

/** Tokens of each answer: the emulator takes about a second for each. */
const count = 10;
const drawn = { ...greedy, temperature: 0.9, topP: 0.95, seed: 3n, repetitionPenalty: 1.1 };

/**
 * @param models folder of the models; the draft model's own is beside it
 * @param goldenOf a model's numbers on the device
 * @returns a line on what was found
 */
export async function holdDrafter(
  models: string,
  name: string,
  device: EngineOptions['device'],
  goldenOf: (model: string) => Golden,
): Promise<string> {
  const headDir = `${models}../drafters/${name}`;
  const { base, method = 'eagle3' } = readDrafter(headDir);
  const golden = goldenOf(base);
  const plain = await within(models + base, { device }, (engine) => answers(engine, golden));
  const speculative = { method, tokens: drafts, headDir };
  return within(models + base, { device, speculative }, async (engine) => {
    const close = 0.2;
    const found = await expectProposals(engine, golden.greedy, readDraftsOnGpu(headDir), { close, count });
    assert.ok(found.compared > 30, `${String(found.compared)} clear drafts say little`);
    assert.deepEqual(found.answers, plain.greedy);
    assert.deepEqual(await run(engine, together(golden), drafts), plain.together);
    return `${String(found.compared)} drafts of ${method} as the reference's, answers to the bit`;
  });
}

async function answers(
  engine: Engine,
  golden: Golden,
): Promise<{ greedy: readonly Generated[]; together: readonly Generated[] }> {
  const alone: Generated[] = [];
  for (const { prompt } of golden.greedy)
    alone.push(...(await run(engine, [job(0, prompt, { count, chunk: 64 })])));
  return { greedy: alone, together: await run(engine, together(golden)) };
}

/** Greedy and drawn, joining one after the other. */
function together(golden: Golden): ReturnType<typeof job>[] {
  return golden.greedy.map(({ prompt }, i) =>
    job(i, prompt, { count, chunk: 64, joinsAt: i, sampling: i % 2 === 0 ? greedy : drawn }),
  );
}

async function within<T>(
  modelDir: string,
  how: Partial<EngineOptions>,
  work: (engine: Engine) => Promise<T>,
): Promise<T> {
  const engine = await loadGolden(modelDir, { dtype: 'bfloat16', ...how });
  return work(engine).finally(() => engine.dispose());
}
