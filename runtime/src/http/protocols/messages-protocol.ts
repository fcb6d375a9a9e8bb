// Anthropic's Messages: an answer is blocks of thinking, text and uses of tools; on a stream each of them is opened,
// grown and closed by events.

import type { ApiError } from '../../request/body/api-error.js';
import { sealReasoning } from '../../request/body/sealed-reasoning.js';
import { messagesWordings, parseMessages } from '../../request/parse/parse-messages.js';
import type { TextDelta } from '../../request/text/text-stream.js';
import { parseExactly } from '../../tools/exact-json.js';
import { anthropicError } from '../api/anthropic-error.js';
import { AnswerParts, type AnswerPart, type PartEvent } from './answer-parts.js';
import type { AnswerProtocol, AnswerWriter, UsageSoFar } from './answer-protocol.js';
import { addUsage, type AnswerHead, type WholeChoice } from './answer-shape.js';
import type { Usage } from '../generation/generation.js';
import { typedEvent, type TypedData } from './sse-event.js';

export const messagesProtocol: AnswerProtocol = {
  idPrefix: 'msg_',
  idHeaders: ['request-id'],
  keepAlive: typedEvent({ type: 'ping' }),
  wordings: messagesWordings,
  read(body, defaults, randomSeed) {
    const { parsed, omitsThinking } = parseMessages(body, defaults, randomSeed);
    return { parsed, writer: (head) => new MessageWriter(head, omitsThinking) };
  },
};

class MessageWriter implements AnswerWriter {
  private readonly parts = new AnswerParts();
  private begun = false;
  private ending: object = {};

  constructor(
    private readonly head: AnswerHead,
    private readonly omitsThinking: boolean,
  ) {}

  delta(_index: number, delta: TextDelta, usage: UsageSoFar): string[] {
    const start = this.begun ? [] : [this.start(usage.all())];
    this.begun = true;
    const events = this.parts.take(delta).flatMap((event) => blockEvents(event, this.omitsThinking));
    if (delta.finish !== null) this.ending = endOf(delta, this.parts.all);
    return [...start, ...events].map(typedEvent);
  }

  end(usage: Usage): string[] {
    const last = { type: 'message_delta', delta: this.ending, usage: usageOf(usage) };
    return [last, { type: 'message_stop' }].map(typedEvent);
  }

  failure(error: ApiError): string[] {
    return [typedEvent({ ...anthropicError(error, this.head.id) })];
  }

  whole([choice, ...others]: readonly WholeChoice[]): object {
    if (choice === undefined) throw new Error('a message has one choice');
    const parts = AnswerParts.of(choice.deltas);
    const content = parts.map((part) => {
      const isCut = choice.finish !== 'tool_calls' && part === parts.at(-1);
      return part.kind === 'call' ? callBlock(part, isCut) : blockOf(part, this.omitsThinking);
    });
    const usage = addUsage([choice, ...others].map((each) => each.usage));
    return this.message(content, endOf(choice, parts), usage);
  }

  private start(usage: Usage): TypedData {
    // The message is sent as it begins: clients add up what this and the last event say of the answer.
    const before = { ...usage, completionTokens: 0, reasoningTokens: 0 };
    const message = this.message([], stopped(null, null), before);
    return { type: 'message_start', message };
  }

  private message(content: readonly object[], ending: object, usage: Usage): object {
    const { id, model } = this.head;
    const used = { ...usageOf(usage), ...asServed };
    return {
      id,
      type: 'message',
      role: 'assistant',
      model,
      content,
      diagnostics: null,
      ...ending,
      usage: used,
    };
  }
}

function blockEvents(event: PartEvent, omitsThinking: boolean): TypedData[] {
  const { part } = event;
  const { index } = part;
  const isThinking = part.kind === 'reasoning';
  const grown = (delta: object): TypedData => ({ type: 'content_block_delta', index, delta });
  switch (event.kind) {
    case 'opened': {
      const empty = blockOf({ ...part, text: '' }, omitsThinking);
      const content_block = isThinking ? { ...empty, signature: '' } : empty;
      return [{ type: 'content_block_start', index, content_block }];
    }
    case 'grown':
      return isThinking && omitsThinking ? [] : [grown(growth(part.kind, event.by))];
    case 'closed': {
      const stop = { type: 'content_block_stop', index };
      if (!isThinking) return [stop];
      return [grown({ type: 'signature_delta', signature: signatureOf(part.text, omitsThinking) }), stop];
    }
  }
}

/** Nothing is signed, but clients keep thinking only with a signature. Where they get no more, that has the thinking. */
const signatureOf = (text: string, omitsThinking: boolean): string =>
  omitsThinking ? sealReasoning(text) : 'unsigned';

function growth(kind: AnswerPart['kind'], by: string): object {
  switch (kind) {
    case 'reasoning':
      return { type: 'thinking_delta', thinking: by };
    case 'text':
      return { type: 'text_delta', text: by };
    case 'call':
      return { type: 'input_json_delta', partial_json: by };
  }
}

function blockOf({ kind, text, call }: AnswerPart, omitsThinking: boolean): object {
  switch (kind) {
    case 'reasoning':
      return {
        type: 'thinking',
        thinking: omitsThinking ? '' : text,
        signature: signatureOf(text, omitsThinking),
      };
    case 'text':
      return { type: 'text', text, citations: null };
    case 'call':
      return toolUse(call, {});
  }
}

const toolUse = (call: AnswerPart['call'], input: object): object => ({
  type: 'tool_use',
  ...call,
  input,
  caller: { type: 'direct' },
});

/**
 * A whole call. No tool may run without its arguments. Those that a limit cut are wrapped as Anthropic's documentation
 * advises for invalid JSON, and `stop_reason` asks for no result; what the model itself wrote wrong is text.
 * https://platform.claude.com/docs/en/agents-and-tools/tool-use/fine-grained-tool-streaming
 */
function callBlock({ text, call }: AnswerPart, isCut: boolean): object {
  const input = inputOf(text);
  if (input !== null || isCut) return toolUse(call, input ?? { INVALID_JSON: text });
  const problem = `The model called ${call?.name ?? ''} with arguments that are no JSON object: ${text}`;
  return { type: 'text', text: problem, citations: null };
}

/** Null: the arguments cannot be read. */
function inputOf(text: string): object | null {
  try {
    const value = parseExactly(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

function endOf({ finish, stopReason }: TextDelta, parts: readonly AnswerPart[]): object {
  const sequence = finish === 'stop' && typeof stopReason === 'string' ? stopReason : null;
  const natural = sequence === null ? 'end_turn' : 'stop_sequence';
  const canRun = parts.some(({ kind, text }) => kind === 'call' && inputOf(text) !== null);
  const called = canRun ? 'tool_use' : 'end_turn';
  const reasons = { length: 'max_tokens', repetition: 'max_tokens', tool_calls: called, stop: natural };
  return stopped(finish === null ? null : reasons[finish], sequence);
}

/** Nothing is refused here, and nothing runs in a container. */
function stopped(reason: string | null, sequence: string | null): object {
  return { stop_reason: reason, stop_sequence: sequence, stop_details: null, container: null };
}

/** Anthropic counts tokens that the cache had apart from the other input. */
function usageOf({ promptTokens, cachedTokens, completionTokens, reasoningTokens }: Usage): object {
  return {
    input_tokens: promptTokens - cachedTokens,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: cachedTokens,
    output_tokens: completionTokens,
    output_tokens_details: { thinking_tokens: reasoningTokens },
    server_tool_use: null,
  };
}

/** What Anthropic reports of how a message was served, with what it took. */
const asServed = {
  cache_creation: null,
  inference_geo: null,
  service_tier: 'standard',
  speed: 'standard',
};
