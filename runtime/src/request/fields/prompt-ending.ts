// Where a chat's prompt ends: where the assistant's answer begins, after the last message as it is, or within it, so
// that the answer continues with that message's own text (vLLM's continue_final_message).

import { boolean } from '../body/field-schemas.js';
import { conversed, type FieldTable, type TableValues } from '../body/field-table.js';
import { violationAt, type Violation } from '../body/violation.js';
import type { Message, RawMessage } from './messages.js';

export const endingFields = {
  add_generation_prompt: { routes: conversed, schema: boolean },
  continue_final_message: { routes: conversed, schema: boolean },
} as const satisfies FieldTable;

type EndingFields = TableValues<typeof endingFields>;

export type PromptEnding = 'answer' | 'none' | 'continue';

export function readEnding(fields: EndingFields): PromptEnding {
  if (fields.continue_final_message === true) return 'continue';
  return fields.add_generation_prompt === false ? 'none' : 'answer';
}

export function violationsOfEnding(
  fields: EndingFields & { readonly messages?: readonly RawMessage[] | undefined },
): Violation[] {
  if (fields.continue_final_message !== true) return [];
  const violations: Violation[] = [];
  const refuse = (rule: string): number => violations.push(violationAt('continue_final_message', rule));
  if (fields.add_generation_prompt !== false)
    refuse('needs add_generation_prompt: false, since a new message would begin');
  if ((fields.messages?.at(-1)?.tool_calls ?? []).length > 0)
    refuse('needs a last message that ends in text: this one calls tools, whose results follow');
  return violations;
}

/** Written behind the last message's text to find its end in the prompt: a template may trim or move what it is given. */
const mark = '<|the final message ends here|>';

/** The messages as the template is given them where the answer continues with the last. */
export function withMark(messages: readonly Message[]): readonly Message[] {
  const last = messages.at(-1);
  if (last === undefined) return messages;
  return [...messages.slice(0, -1), { ...last, content: last.content + mark }];
}

/** The prompt of marked messages up to the mark; null: the template wrote none. */
export function cutAtMark(prompt: string): string | null {
  const end = prompt.lastIndexOf(mark);
  return end === -1 ? null : prompt.slice(0, end);
}
