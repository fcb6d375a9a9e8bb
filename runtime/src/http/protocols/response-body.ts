// The response of OpenAI's Responses around its output: how it ended, what it took, and what was asked for.

import type { ApiError } from '../../request/body/api-error.js';
import type { ResponsesRequest } from '../../request/parse/parse-responses.js';
import type { TextDelta } from '../../request/text/text-stream.js';
import type { AnswerPart } from './answer-parts.js';
import type { AnswerHead } from './answer-shape.js';
import type { Usage } from '../generation/generation.js';
import type { ResponseBody, StoredItem } from '../stored-responses/stored-response.js';

export type ResponseState =
  | { readonly status: 'queued' | 'in_progress' | 'completed' | 'incomplete' | 'cancelled' }
  | { readonly status: 'failed'; readonly error: ApiError };

/** @param last of the answer: a call that is last was cut, unless calls ended the answer */
export function stateAtEnd({ finish }: TextDelta, last: AnswerPart | undefined): ResponseState {
  const isCut = finish !== 'stop' && finish !== 'tool_calls';
  const isCutCall = finish === 'stop' && last?.kind === 'call';
  return { status: isCut || isCutCall ? 'incomplete' : 'completed' };
}

export function responseBody(
  { parsed, fields, stores }: ResponsesRequest,
  { id, created, model }: AnswerHead,
  state: ResponseState,
  output: readonly StoredItem[],
  usage: Usage | null,
): ResponseBody {
  const { sampling } = parsed;
  return {
    id,
    object: 'response',
    created_at: created,
    status: state.status,
    error: state.status === 'failed' ? errorOf(state.error) : null,
    incomplete_details: state.status === 'incomplete' ? { reason: 'max_output_tokens' } : null,
    model,
    output,
    usage: usage === null ? null : usageOf(usage),
    instructions: fields.instructions ?? null,
    max_output_tokens: fields.max_output_tokens ?? null,
    max_tool_calls: fields.max_tool_calls ?? null,
    metadata: fields.metadata ?? {},
    parallel_tool_calls: fields.parallel_tool_calls ?? true,
    prompt_cache_key: fields.prompt_cache_key ?? null,
    reasoning: { effort: null, summary: null, ...fields.reasoning },
    safety_identifier: fields.safety_identifier ?? null,
    temperature: sampling.temperature,
    text: textOf(fields.text ?? {}),
    tool_choice: fields.tool_choice ?? 'auto',
    tools: (fields.tools ?? []).map(toolOf),
    top_p: sampling.topP,
    user: fields.user ?? null,
    background: fields.background ?? false,
    previous_response_id: fields.previous_response_id ?? null,
    service_tier: 'default',
    // Of OpenAI's own models; its clients count on the member.
    access_programs: null,
    // Whatever was asked for, it is stored only where there is a store.
    store: stores,
    top_logprobs: fields.top_logprobs ?? 0,
    truncation: 'disabled',
  };
}

/** OpenAI's own `code` is one of a few that its clients know; ours says what it was. */
function errorOf({ status, message, code }: ApiError): object {
  const known = status === 429 ? 'rate_limit_exceeded' : 'server_error';
  return { code: known, message, llmservice_code: code };
}

interface AskedText {
  readonly format?: object | null;
}

interface AskedTool {
  readonly type: string;
}

const textOf = ({ format, ...asked }: AskedText): object => ({
  format: format ?? { type: 'text' },
  ...asked,
});

/** With all that OpenAI reports of a tool; a schema is not enforced unless asked for. */
const toolOf = (tool: AskedTool): object =>
  tool.type === 'function' ? { description: null, parameters: null, strict: false, ...tool } : tool;

function usageOf({ promptTokens, cachedTokens, completionTokens, reasoningTokens }: Usage): object {
  return {
    input_tokens: promptTokens,
    input_tokens_details: { cached_tokens: cachedTokens, cache_write_tokens: 0 },
    output_tokens: completionTokens,
    output_tokens_details: { reasoning_tokens: reasoningTokens },
    total_tokens: promptTokens + completionTokens,
  };
}
