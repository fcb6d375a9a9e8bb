// Bodies of Anthropic's Messages, and of its token count, as the requests that other routes make. Pure.

import { ApiError, type Wording } from '../body/api-error.js';
import type { Fields } from '../body/field-table.js';
import { firstOf, invalidRequest } from '../body/violation.js';
import type { GenerationDefaults } from '../fields/generation-defaults.js';
import type { BodyOf, GenerationFields } from '../validate/request-fields.js';
import { validateBody } from '../validate/validate-body.js';
import { deferralViolations, deferredIn, withoutTools } from './deferred-tools.js';
import { messageViolations, readConversation } from './messages-conversation.js';
import { readRequest, type ApiRequest } from './parse-request.js';
import { refuseMedia } from './refuse-media.js';

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
  const fields = validate('messages', body);
  const parsed = parse(fields, defaults, randomSeed);
  return { parsed, omitsThinking: fields.thinking?.display === 'omitted' };
}

/** @throws ApiError invalid_request, with every violation */
export function parseCountTokens(body: unknown, defaults: GenerationDefaults): ApiRequest {
  return parse(validate('countTokens', body), defaults, 0n);
}

function validate<Kind extends 'messages' | 'countTokens'>(kind: Kind, body: unknown): BodyOf<Kind> {
  const { thread, messages } = (body ?? {}) as Fields;
  if ((thread ?? null) !== null) throw threadRefusal();
  refuseMedia(messages, 'messages');
  return validateBody(kind, body);
}

/**
 * Anthropic's newest clients leave what they have said to the server's keeping. By these details they know that it keeps
 * nothing, and send the whole conversation; anything else that is wrong with it is reported then.
 */
function threadRefusal(): ApiError {
  const message =
    'thread is not supported: no conversation is kept here; send all of it as messages, without thread';
  const details = { error_code: 'thread_unsupported_request', unsupported: ['thread'] };
  return ApiError.of('invalid_request', message, { param: 'thread', details });
}

/** A count asks for less than an answer. */
type MessagesFields = Partial<BodyOf<'messages'>> & BodyOf<'countTokens'>;

function parse(fields: MessagesFields, defaults: GenerationDefaults, randomSeed: bigint): ApiRequest {
  const deferred = deferredIn(fields);
  const violations = deferralViolations(fields, deferred);
  if (violations.length > 0) throw invalidRequest(violations);
  return withoutTools(readRequest('chat', chatFields(fields), defaults, randomSeed), deferred);
}

/** The same request in the fields of a chat. */
function chatFields(fields: MessagesFields): GenerationFields {
  const {
    messages: turns,
    system,
    stop_sequences,
    tools,
    tool_choice,
    thinking,
    metadata,
    output_config,
    ...same
  } = fields;
  const violations = firstOf(messageViolations(turns));
  if (violations.length > 0) throw invalidRequest(violations);
  const { format = null, effort = null } = output_config ?? {};
  return {
    ...same,
    messages: readConversation(system, turns),
    // An answer that the client began is continued.
    ...(turns.at(-1)?.role === 'assistant'
      ? { continue_final_message: true, add_generation_prompt: false }
      : {}),
    stop: stop_sequences,
    tools: tools?.map(readTool),
    tool_choice: tool_choice === undefined ? undefined : readChoice(tool_choice),
    parallel_tool_calls: tool_choice?.disable_parallel_tool_use === true ? false : undefined,
    // Anthropic's models think where they are asked to; with `adaptive` they decide, as the chat template lets them.
    enable_thinking: thinking?.type === 'adaptive' ? undefined : thinking?.type === 'enabled',
    thinking_token_budget: thinking?.budget_tokens,
    // Not as the field of chat, which would turn thinking on as well.
    chat_template_kwargs: effort === null ? undefined : { reasoning_effort: effort },
    user: metadata?.user_id ?? undefined,
    response_format: format === null ? undefined : { type: 'json_schema', json_schema: format },
  };
}

type FunctionTool = NonNullable<GenerationFields['tools']>[number];

function readTool({
  name,
  description,
  input_schema: parameters,
  strict,
}: NonNullable<MessagesFields['tools']>[number]): FunctionTool {
  const described = description == null ? {} : { description };
  return {
    type: 'function',
    function: { name, ...described, parameters, ...(strict === true ? { strict } : {}) },
  };
}

function readChoice({
  type,
  name = '',
}: NonNullable<MessagesFields['tool_choice']>): GenerationFields['tool_choice'] {
  if (type === 'tool') return { type: 'function', function: { name } };
  return type === 'any' ? 'required' : type;
}
