// The input of OpenAI's Responses as the messages of a chat: reasoning, text and calls that follow each other there are
// one message of the assistant.

import { openReasoning } from '../body/sealed-reasoning.js';
import type { RawCall, RawMessage } from '../fields/messages.js';
import type { RawItem, RawReasoning, RawText } from '../fields/responses-input.js';
import { flatName } from './tool-namespaces.js';

/** An answer of the assistant that more items may belong to. */
type Turn = {
  readonly role: 'assistant';
  content: string | null;
  reasoning_content: string | null;
  readonly tool_calls: RawCall[];
};

/** Reasoning and text come before the calls that they led to. */
const isUnspoken = ({ content, tool_calls }: Turn): boolean => content === null && tool_calls.length === 0;

export function readItems(input: readonly RawItem[]): RawMessage[] {
  const messages: RawMessage[] = [];
  let open: Turn | null = null;
  const turn = (goesOn: (open: Turn) => boolean): Turn => {
    if (open === null || !goesOn(open)) {
      open = { role: 'assistant', content: null, reasoning_content: null, tool_calls: [] };
      messages.push(open);
    }
    return open;
  };
  for (const item of input) {
    if (item.type === 'reasoning') {
      const of = turn(isUnspoken);
      of.reasoning_content = (of.reasoning_content ?? '') + reasoningOf(item);
    } else if (item.type === 'function_call') {
      const { call_id: id, arguments: text } = item;
      const name = flatName(item.name, item.namespace);
      turn(() => true).tool_calls.push({ id, type: 'function', function: { name, arguments: text } });
    } else if (item.type === 'custom_tool_call') {
      const { call_id: id, name, input: text } = item;
      turn(() => true).tool_calls.push({ id, type: 'custom', custom: { name, input: text } });
    } else if (isOutput(item)) {
      open = null;
      messages.push({ role: 'tool', tool_call_id: item.call_id, content: textOf(item.output) });
    } else if (item.role === 'assistant') {
      turn(isUnspoken).content = textOf(item.content ?? '');
    } else {
      open = null;
      messages.push({ role: item.role, content: textOf(item.content ?? '') });
    }
  }
  return messages;
}

const isOutput = (item: RawItem): item is Extract<RawItem, { readonly output: RawText }> =>
  item.type === 'function_call_output' || item.type === 'custom_tool_call_output';

/** Clients send back its text, or what stands for it, or both. */
export function reasoningOf({ content, encrypted_content: sealed }: RawReasoning): string {
  const text = textOf(content ?? '');
  return text === '' ? (openReasoning(sealed ?? '') ?? '') : text;
}

const textOf = (text: RawText): string =>
  typeof text === 'string' ? text : text.map((part) => ('text' in part ? part.text : part.refusal)).join('');
