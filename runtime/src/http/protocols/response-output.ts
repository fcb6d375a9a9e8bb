// The parts of an answer as output items of OpenAI's Responses, and what is sent of them while they are written.

import { sealReasoning } from '../../request/body/sealed-reasoning.js';
import type { ResponsesRequest } from '../../request/parse/parse-responses.js';
import type { GeneratedToken } from '../../request/text/text-stream.js';
import type { AnswerPart, PartEvent } from './answer-parts.js';
import { scoredTokens, type TokenTexts } from './logprob-shapes.js';
import type { TypedData } from './sse-event.js';
import type { StoredItem } from '../stored-responses/stored-response.js';

export type ItemStatus = 'in_progress' | 'completed' | 'incomplete';

const idPrefixes = { reasoning: 'rs_', text: 'msg_', call: 'fc_', custom: 'ctc_' } as const;

/** The response that items belong to. */
export interface ItemsOf {
  /** Those of its items follow from it. */
  readonly id: string;
  readonly sealsReasoning: boolean;
  /** Functions in namespaces, by the names that the model calls them by. */
  readonly namespaced: ResponsesRequest['namespaced'];
  /** Names of the custom tools, whose calls have inputs. */
  readonly custom: ResponsesRequest['custom'];
  readonly texts: TokenTexts;
}

/** What the part is of: a call, of a function or of a custom tool. */
const kindOf = ({ kind, call }: AnswerPart, { custom }: ItemsOf): keyof typeof idPrefixes =>
  call !== null && custom.has(call.name) ? 'custom' : kind;

const idOf = (part: AnswerPart, answer: ItemsOf): string =>
  `${idPrefixes[kindOf(part, answer)]}${answer.id.replace(/^resp_/, '')}-${String(part.index)}`;

export function itemOf(part: AnswerPart, answer: ItemsOf, status: ItemStatus): StoredItem {
  const id = idOf(part, answer);
  // What has begun has no content part yet: an event of its own adds it.
  const content = status === 'in_progress' ? [] : [contentOf(part, answer)];
  switch (kindOf(part, answer)) {
    case 'reasoning': {
      const isSealed = answer.sealsReasoning && status !== 'in_progress';
      const encrypted_content = isSealed ? sealReasoning(part.text) : null;
      return { id, type: 'reasoning', summary: [], content, encrypted_content, status };
    }
    case 'text':
      return { id, type: 'message', role: 'assistant', content, status };
    case 'call': {
      const called = { call_id: callIdOf(part), ...nameOf(part, answer), arguments: part.text };
      return { id, type: 'function_call', ...called, status };
    }
    case 'custom': {
      const { name } = nameOf(part, answer);
      return { id, type: 'custom_tool_call', call_id: callIdOf(part), name, input: part.text, status };
    }
  }
}

/** What the client calls the function of a call. */
function nameOf({ call }: AnswerPart, { namespaced }: ItemsOf): { name: string; namespace?: string } {
  const name = call?.name ?? '';
  return namespaced.get(name) ?? { name };
}

const callIdOf = ({ call }: AnswerPart): string => call?.id ?? '';

interface ContentPart {
  readonly type: string;
  readonly text: string;
  readonly [more: string]: unknown;
}

const contentOf = ({ kind, text, tokens }: AnswerPart, { texts }: ItemsOf): ContentPart =>
  kind === 'reasoning'
    ? { type: 'reasoning_text', text }
    : { type: 'output_text', text, annotations: [], logprobs: scoredTokens(tokens, texts) };

/** @param status of the item once it is closed */
export function itemEvents(event: PartEvent, answer: ItemsOf, status: ItemStatus): TypedData[] {
  const { part } = event;
  const output = { output_index: part.index };
  const at = { ...output, item_id: idOf(part, answer) };
  const inContent = { ...at, content_index: 0 };
  const { grown, done } = words[kindOf(part, answer)];
  const isCall = part.kind === 'call';
  // Behind an event that is sent later the part has grown already.
  const empty = { ...part, text: '', tokens: [] };
  const scored = ({ tokens }: { readonly tokens: readonly GeneratedToken[] }): object =>
    part.kind === 'text' ? { logprobs: scoredTokens(tokens, answer.texts) } : {};
  switch (event.kind) {
    case 'opened':
      return [
        { type: 'response.output_item.added', ...output, item: itemOf(empty, answer, 'in_progress') },
        ...(isCall
          ? []
          : [{ type: 'response.content_part.added', ...inContent, part: contentOf(empty, answer) }]),
      ];
    case 'grown':
      return [{ type: grown, ...(isCall ? at : inContent), delta: event.by, ...scored(event) }];
    case 'closed':
      return [
        isCall
          ? { type: done, ...at, ...calledOf(part, answer) }
          : { type: done, ...inContent, text: part.text, ...scored(part) },
        ...(isCall
          ? []
          : [{ type: 'response.content_part.done', ...inContent, part: contentOf(part, answer) }]),
        { type: 'response.output_item.done', ...output, item: itemOf(part, answer, status) },
      ];
  }
}

/** What the end of a call repeats of it. */
const calledOf = (part: AnswerPart, answer: ItemsOf): object =>
  kindOf(part, answer) === 'custom'
    ? { input: part.text }
    : { name: nameOf(part, answer).name, arguments: part.text };

const eventsOf = (name: string): { readonly grown: string; readonly done: string } => ({
  grown: `response.${name}.delta`,
  done: `response.${name}.done`,
});

const words = {
  reasoning: eventsOf('reasoning_text'),
  text: eventsOf('output_text'),
  call: eventsOf('function_call_arguments'),
  custom: eventsOf('custom_tool_call_input'),
};
