// Chat messages in the one form that templates of text models understand: content is a string, the arguments of tool
// calls are objects.

import { excessOf } from '../body/json-bounds.js';
import type { Fields } from '../body/validate-body.js';

export type Message = Fields & { readonly role: string; readonly content: string };

interface RawMessage {
  readonly role: string;
  readonly content?: string | readonly { readonly text: string }[] | null;
  readonly refusal?: string | null;
  readonly tool_calls?: readonly RawCall[] | null;
  readonly reasoning?: string | null;
  readonly reasoning_content?: string | null;
}

interface RawCall {
  readonly function: { readonly arguments: string };
}

/** Text parts are joined as they are; `developer` is OpenAI's newer word for `system`. */
export function readMessages(messages: unknown): Message[] {
  return (messages as readonly RawMessage[]).map(({ tool_calls, reasoning_content, ...message }) => {
    // Templates know the one name; clients send back either. Templates ask whether the keys are there at all.
    const reasoning = reasoning_content ?? message.reasoning ?? null;
    const calls = tool_calls ?? [];
    return {
      ...message,
      role: message.role === 'developer' ? 'system' : message.role,
      // OpenAI's models refuse beside their content, which is null then.
      content: textOf(message.content ?? message.refusal),
      ...(reasoning === null ? {} : { reasoning_content: reasoning }),
      ...(calls.length === 0 ? {} : { tool_calls: calls.map(readCall) }),
    };
  });
}

/** Arguments as an object; what a model wrote that is none, or has too much in it, stays text, which some templates take. */
function readCall(call: RawCall): object {
  return { ...call, function: { ...call.function, arguments: argumentsOf(call.function.arguments) } };
}

function argumentsOf(text: string): unknown {
  if (text.trim() === '') return {};
  if (excessOf(Buffer.from(text)) !== null) return text;
  try {
    const value = JSON.parse(text) as unknown;
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : text;
  } catch {
    return text;
  }
}

function textOf(content: RawMessage['content']): string {
  if (content === undefined || content === null) return '';
  return typeof content === 'string' ? content : content.map((part) => part.text).join('');
}
