// What a decode pod asks of a prefill pod, and what that answers, as they are sent: JSON, in which the tokens are bytes
// (little endian, four each) in base64. The answer comes in lines: empty ones while it is computed, then one object.

import type { GenerateRequest } from '../schedule/generation.js';

export interface PrefillAsk extends Pick<
  GenerateRequest,
  'prompt' | 'cacheSalt' | 'boundaries' | 'fairnessKey' | 'priority' | 'maxQueueMs'
> {
  /** Of the asker's engine. */
  readonly layout: string;
  /** Blocks of the prompt that the asker has. */
  readonly from: number;
}

/** What becomes readable under a ticket. */
export interface PrefillAnswer {
  readonly ticket: string;
  /** Where rank 0 hands it over, on the pod that answers. */
  readonly port: number;
  /** Behind those that the asker has. */
  readonly blocks: number;
  /** Whether there is a state behind the last block. */
  readonly snapshot: boolean;
  /** Of the prompt, up to the end of the last block. */
  readonly tokens: number;
  /** Of them, those that the prefill pod's own prefix cache had. */
  readonly cachedTokens: number;
}

export const prefillPath = '/internal/prefill';

export function askText({ prompt, ...ask }: PrefillAsk): string {
  const bytes = Buffer.from(prompt.buffer, prompt.byteOffset, prompt.byteLength);
  return JSON.stringify({ ...ask, prompt: bytes.toString('base64') });
}

/** Null: it is none. */
export function readAnswer(text: string): PrefillAnswer | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof value !== 'object' || value === null) return null;
  const { ticket, port, blocks, snapshot, tokens, cachedTokens } = value as Partial<PrefillAnswer>;
  const counts = [port, blocks, tokens, cachedTokens];
  if (typeof ticket !== 'string' || typeof snapshot !== 'boolean') return null;
  if (!counts.every((count) => Number.isSafeInteger(count) && Number(count) >= 0)) return null;
  return value as PrefillAnswer;
}
