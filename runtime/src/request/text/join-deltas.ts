// All that the deltas of an answer say, as one.

import type { TextDelta } from './text-stream.js';

export function joinDeltas(deltas: readonly TextDelta[]): TextDelta {
  const last = deltas.at(-1);
  return {
    content: deltas.map((delta) => delta.content).join(''),
    reasoning: deltas.map((delta) => delta.reasoning).join(''),
    toolCalls: deltas.flatMap((delta) => delta.toolCalls),
    logprobs: deltas.flatMap((delta) => delta.logprobs),
    tokenIds: last?.tokenIds == null ? null : deltas.flatMap((delta) => delta.tokenIds ?? []),
    promptTokenIds: deltas.find((delta) => delta.promptTokenIds !== null)?.promptTokenIds ?? null,
    finish: last?.finish ?? null,
    stopReason: last?.stopReason ?? null,
  };
}
