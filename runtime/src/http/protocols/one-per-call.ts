// A delta as chunks of which none reports more than one thing of one call: many clients read only the first of a chunk.

import { silentDelta, type TextDelta } from '../../request/text/text-stream.js';

/** The first has the text, the tokens and what is reported of the prompt, the last the end. */
export function onePerCall(delta: TextDelta): TextDelta[] {
  const { toolCalls } = delta;
  if (toolCalls.length === 0) return [delta];
  const hasText =
    delta.content !== '' ||
    delta.reasoning !== '' ||
    delta.logprobs.length > 0 ||
    delta.tokenIds !== null ||
    delta.promptTokenIds !== null;
  const text = { ...delta, toolCalls: [], finish: null, stopReason: null };
  const bare = { ...silentDelta, tokenIds: delta.tokenIds === null ? null : [] };
  const calls = toolCalls.map((call) => ({ ...bare, toolCalls: [call] }));
  const end = { ...bare, finish: delta.finish, stopReason: delta.stopReason };
  return [...(hasText ? [text] : []), ...calls, ...(delta.finish === null ? [] : [end])];
}
