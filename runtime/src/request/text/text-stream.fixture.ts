// Text streams over bytes for tests.

import { emptyOutput } from '../../engine/output-queue.js';
import type { EngineOutput } from '../../engine/protocol.js';
import { Detokenizer } from '../../tokens/detokenizer.js';
import { TextStream } from './text-stream.js';
import type { TextStreamOptions } from './text-stream-options.js';

/** Ids below 256 are bytes; these two stand around reasoning. */
export const think = { begin: 1000, end: 1001, label: '' };
export const ids = (text: string): number[] => [...Buffer.from(text)];
export const stream = (change: Partial<TextStreamOptions> = {}): TextStream =>
  new TextStream({
    newDetokenizer: () => new Detokenizer((id) => (id < 256 ? Uint8Array.of(id) : Buffer.from('<think>'))),
    textOf: (id) => (id === think.begin ? '<think>' : '</think>'),
    stopStrings: [],
    stopPatterns: [],
    includeStopString: false,
    stopTokenIds: [],
    eosIds: [],
    minTokens: 0,
    repetition: null,
    logprobs: 1,
    reportsIds: false,
    think,
    inReasoning: false,
    tools: null,
    callsInReasoning: true,
    channels: null,
    ...change,
  });
export const step = (tokens: readonly number[], change: Partial<EngineOutput> = {}): EngineOutput => ({
  ...emptyOutput,
  tokens,
  ...change,
});
