// What draft models propose, against golden.json and on-gpu.json in drafters/NAME, on the CPU or a device. By Node's own assertions, as
// reference-bar.ts.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { Engine } from '@llmservice/native';

import { type Generated, run } from './engine-driver.js';
import type { GreedyGolden } from './golden-values.js';
import { job } from './reference-bar.js';

/** Drafts of each step that the files have. */
export const drafts = 3;

/** As generate/drafters.py and draft_models.py write it. */
export interface GoldenDrafter extends Proposals {
  readonly base: string;
  /** Absent: EAGLE-3. */
  readonly method?: DrafterMethod;
  /** Of each position, how often all drafts up to it are the base's own tokens. */
  readonly right: readonly number[];
}

export type DrafterMethod = 'eagle3' | 'draft_model';

/** For each greedy run of the base, what is drafted after each token. */
export interface Proposals {
  readonly runs: readonly { readonly tokens: number[][]; readonly margins: number[][] }[];
}

export function readDrafter(dir: string): GoldenDrafter {
  return JSON.parse(readFileSync(`${dir}/golden.json`, 'utf8')) as GoldenDrafter;
}

/** With activations rounded as GPUs round them, behind what the base says then. */
export function readDraftsOnGpu(dir: string): Proposals {
  return JSON.parse(readFileSync(`${dir}/on-gpu.json`, 'utf8')) as Proposals;
}

/**
 * Answers each prompt by `count` tokens with drafts: those behind the reference's own tokens are the reference's, up to the first close
 * call of each step. `compared` is how many were compared.
 */
export async function expectProposals(
  engine: Engine,
  greedy: readonly GreedyGolden[],
  { runs }: Proposals,
  { close, count }: { readonly close: number; readonly count: number },
): Promise<{ readonly compared: number; readonly answers: readonly Generated[] }> {
  let compared = 0;
  const answers: Generated[] = [];
  for (const [i, { prompt, tokens }] of greedy.entries()) {
    const steps: (readonly [generated: number, held: number[]])[] = [];
    const [answer] = await run(engine, [job(0, prompt, { count, chunk: 64 })], drafts, (...step) =>
      steps.push(step),
    );
    answers.push(answer!);
    const same = answer!.tokens.findIndex((token, n) => token !== tokens[n]);
    const last = Math.min(runs[i]!.tokens.length, same === -1 ? count : same);
    // A prompt of which one token is left drafts too; that, the file does not have.
    for (const [generated, held] of steps.filter(([n]) => n > 0 && n <= last)) {
      const unclear = runs[i]!.margins[generated - 1]!.findIndex((margin) => margin < close);
      const clear = Math.min(held.length, unclear === -1 ? drafts : unclear);
      assert.deepEqual(held.slice(0, clear), runs[i]!.tokens[generated - 1]!.slice(0, clear));
      compared += clear;
    }
  }
  return { compared, answers };
}
