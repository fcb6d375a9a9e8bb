// Items of a request as they are stored: each with an id and in the form in which OpenAI lists them, without members that
// nobody reads. Pure.

import { sealReasoning } from '../../request/body/sealed-reasoning.js';
import type { RawItem, RawText } from '../../request/fields/responses-input.js';
import { sealedReasoning } from '../../request/fields/responses-fields.js';
import { reasoningOf } from '../../request/parse/response-items.js';
import type { StoredItem } from './stored-response.js';

/** Of an id that a client chose. */
const maxIdLength = 128;

/** @param responseId what the ids of items come from that have none, or one that an item before them has */
export function storedItems(items: readonly RawItem[], responseId: string): StoredItem[] {
  const ofResponse = responseId.replace(/^resp_/, '');
  const taken = new Set<string>();
  return items.map((item, index) => {
    const own = idOf(item);
    const id = own === null || taken.has(own) ? `${prefixOf(item)}${ofResponse}-in${String(index)}` : own;
    taken.add(id);
    return storedItem(item, id);
  });
}

/** Id of the response that has an item of this id as its own; null: none has. */
export const responseOf = (itemId: string): string | null => {
  const [, hex] = /^[a-z]+_([0-9a-f]{32})-/.exec(itemId) ?? [];
  return hex === undefined ? null : `resp_${hex}`;
};

/** @param include what a client asks for beside the items, as OpenAI names it */
export function withIncluded(
  items: readonly StoredItem[],
  include: readonly unknown[] = [],
): readonly StoredItem[] {
  if (!include.includes(sealedReasoning)) return items;
  return items.map((item) =>
    item.type === 'reasoning' ? { ...item, encrypted_content: sealReasoning(reasoningOf(item)) } : item,
  );
}

function storedItem(item: RawItem, id: string): StoredItem {
  const status = 'status' in item && item.status === 'incomplete' ? 'incomplete' : 'completed';
  switch (item.type) {
    case 'reasoning': {
      const { type, content, encrypted_content = null } = item;
      const parts = partsOf(content ?? [], 'reasoning_text');
      return { id, type, summary: [], content: parts, encrypted_content, status };
    }
    case 'function_call': {
      const { type, call_id, name, namespace = null, arguments: text } = item;
      const called = namespace === null ? { name } : { name, namespace };
      return { id, type, call_id, ...called, arguments: text, status };
    }
    case 'custom_tool_call': {
      const { type, call_id, name, input } = item;
      return { id, type, call_id, name, input, status };
    }
    case 'function_call_output':
    case 'custom_tool_call_output': {
      const { type, call_id, output } = item;
      const given = typeof output === 'string' ? output : partsOf(output, 'input_text');
      return { id, type, call_id, output: given, status };
    }
    default: {
      const { role, content } = item;
      const kind = role === 'assistant' ? 'output_text' : 'input_text';
      return { id, type: 'message', role, content: partsOf(content ?? '', kind), status };
    }
  }
}

type Part = Exclude<RawText, string>[number] & { readonly type: string; readonly [more: string]: unknown };

function partsOf(text: RawText, type: 'input_text' | 'output_text' | 'reasoning_text'): Part[] {
  const parts = typeof text === 'string' ? [{ text }] : text;
  return parts.map((part): Part => {
    if (!('text' in part)) return { type: 'refusal', refusal: part.refusal };
    const plain = { type, text: part.text };
    return type === 'output_text' ? { ...plain, annotations: [], logprobs: [] } : plain;
  });
}

function idOf(item: RawItem): string | null {
  if (!('id' in item)) return null;
  const { id } = item;
  return typeof id === 'string' && id !== '' && id.length <= maxIdLength ? id : null;
}

/** As OpenAI's ids begin. */
function prefixOf({ type }: RawItem): string {
  switch (type) {
    case 'reasoning':
      return 'rs_';
    case 'function_call':
      return 'fc_';
    case 'custom_tool_call':
      return 'ctc_';
    case 'function_call_output':
    case 'custom_tool_call_output':
      return 'fco_';
    default:
      return 'msg_';
  }
}
