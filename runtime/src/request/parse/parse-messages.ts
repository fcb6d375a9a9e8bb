// Bodies of Anthropic's Messages, and of its token count, as the requests that other routes make. Pure.

import type { Wording } from '../body/api-error.js';
import type { GenerationDefaults } from '../parts/generation-defaults.js';
import { deferralViolations, deferredIn, withoutTools } from './deferred-tools.js';
import { messageViolations, readConversation, type RawText, type RawTurn } from './messages-conversation.js';
import { readRequest, type ApiRequest } from './parse-request.js';
import { refuseMedia } from './refuse-media.js';
import { firstOf, invalidRequest, validateBody, type Fields } from '../body/validate-body.js';

/** Errors of what the two have in common with other routes are reported as Anthropic reports them. */
export const messagesWordings: readonly Wording[] = [
  { ours: /\btools\.(\d+)\.function\.parameters\b/g, theirs: 'tools.$1.input_schema' },
  { ours: /\btools\.(\d+)\.function\b/g, theirs: 'tools.$1' },
  { ours: /\bresponse_format\.json_schema\b/g, theirs: 'output_config.format' },
  { ours: /\btool_choice required\b/g, theirs: 'tool_choice any' },
  // Clients look for Anthropic's very words, and shorten the conversation or ask for less.
  {
    ours: /^the prompt has (?:at least )?(\d+) tokens, but the context is (\d+) tokens\b/,
    theirs: 'prompt is too long: $1 tokens > $2 maximum',
  },
  {
    ours: /^the prompt has (\d+) tokens and max_tokens asks for (\d+) more, but the context is (\d+) tokens\b/,
    theirs: 'input length and `max_tokens` exceed context limit: $1 + $2 > $3',
  },
];

export interface MessagesRequest {
  readonly parsed: ApiRequest;
  /** Whether the reasoning is withheld from the client. */
  readonly omitsThinking: boolean;
}

/** @throws ApiError invalid_request, with every violation */
export function parseMessages(
  body: unknown,
  defaults: GenerationDefaults,
  randomSeed: bigint,
): MessagesRequest {
  const { fields, parsed } = parse('messages', body, defaults, randomSeed);
  const thinking = fields['thinking'] as RawThinking | undefined;
  return { parsed, omitsThinking: thinking?.display === 'omitted' };
}

/** @throws ApiError invalid_request, with every violation */
export function parseCountTokens(body: unknown, defaults: GenerationDefaults): ApiRequest {
  return parse('countTokens', body, defaults, 0n).parsed;
}

function parse(
  kind: 'messages' | 'countTokens',
  body: unknown,
  defaults: GenerationDefaults,
  randomSeed: bigint,
): { readonly fields: Fields; readonly parsed: ApiRequest } {
  refuseMedia((body as { messages?: unknown } | null)?.messages, 'messages');
  const fields = validateBody(kind, body);
  const deferred = deferredIn(fields);
  const violations = deferralViolations(fields, deferred);
  if (violations.length > 0) throw invalidRequest(violations);
  const request = readRequest('chat', chatFields(fields), defaults, randomSeed);
  return { fields, parsed: withoutTools(request, deferred) };
}

interface RawTool {
  readonly name: string;
  readonly description?: string | null;
  readonly input_schema: object;
  readonly strict?: boolean | null;
}

interface RawToolChoice {
  readonly type: 'auto' | 'any' | 'tool' | 'none';
  readonly name?: string;
  readonly disable_parallel_tool_use?: boolean | null;
}

interface RawThinking {
  readonly type: 'enabled' | 'adaptive' | 'disabled';
  readonly budget_tokens?: number;
  readonly display?: 'summarized' | 'omitted' | null;
}

interface RawOutputConfig {
  readonly format?: object | null;
  readonly effort?: string | null;
}

/** The same request in the fields of a chat. */
function chatFields(fields: Fields): Fields {
  const { messages, system, stop_sequences, tools, tool_choice, thinking, metadata, output_config, ...same } =
    fields;
  const turns = messages as readonly RawTurn[];
  const violations = firstOf(messageViolations(turns));
  if (violations.length > 0) throw invalidRequest(violations);
  const user = (metadata as { user_id?: string | null } | undefined)?.user_id ?? null;
  const { format = null, effort = null } = (output_config ?? {}) as RawOutputConfig;
  const choice = tool_choice as RawToolChoice | undefined;
  const asked = thinking as RawThinking | undefined;
  const set = {
    ...same,
    messages: readConversation(system as RawText | undefined, turns),
    // An answer that the client began is continued.
    ...(turns.at(-1)?.role === 'assistant'
      ? { continue_final_message: true, add_generation_prompt: false }
      : {}),
    stop: stop_sequences,
    tools: (tools as readonly RawTool[] | undefined)?.map(readTool),
    tool_choice: choice === undefined ? undefined : readChoice(choice),
    parallel_tool_calls: choice?.disable_parallel_tool_use === true ? false : undefined,
    enable_thinking: readThinking(asked),
    thinking_token_budget: asked?.budget_tokens,
    // Not as the field of chat, which would turn thinking on as well.
    chat_template_kwargs: effort === null ? undefined : { reasoning_effort: effort },
    user: user ?? undefined,
    response_format: format === null ? undefined : { type: 'json_schema', json_schema: format },
  };
  return Object.fromEntries(Object.entries(set).filter(([, value]) => value !== undefined));
}

/** Anthropic's models think where they are asked to; with `adaptive` they decide, as the chat template lets them. */
function readThinking(thinking: RawThinking | undefined): boolean | undefined {
  return thinking?.type === 'adaptive' ? undefined : thinking?.type === 'enabled';
}

function readTool({ name, description, input_schema: parameters, strict }: RawTool): object {
  const described = description == null ? {} : { description };
  return {
    type: 'function',
    function: { name, ...described, parameters, ...(strict === true ? { strict } : {}) },
  };
}

function readChoice({ type, name }: RawToolChoice): unknown {
  if (type === 'tool') return { type: 'function', function: { name } };
  return type === 'any' ? 'required' : type;
}
