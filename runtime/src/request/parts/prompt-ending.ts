// Where a chat's prompt ends: where the assistant's answer begins, after the last message as it is, or within it, so
// that the answer continues with that message's own text (vLLM's continue_final_message).

import type { Message } from './messages.js';
import type { Fields, Violation } from '../body/validate-body.js';

export type PromptEnding = 'answer' | 'none' | 'continue';

export function readEnding(fields: Fields): PromptEnding {
  if (fields['continue_final_message'] === true) return 'continue';
  return fields['add_generation_prompt'] === false ? 'none' : 'answer';
}

export function violationsOfEnding(fields: Fields): Violation[] {
  const [param, needed] = ['continue_final_message', 'add_generation_prompt'];
  if (fields[param] !== true) return [];
  const violations: Violation[] = [];
  if (fields[needed] !== false)
    violations.push({ param, message: `${param} needs ${needed}: false, since a new message would begin` });
  if (endsInCalls(fields))
    violations.push({
      param,
      message: `${param} needs a last message that ends in text: this one calls tools, whose results follow`,
    });
  return violations;
}

function endsInCalls(fields: Fields): boolean {
  const messages = fields['messages'] as readonly Fields[] | undefined;
  const calls = messages?.at(-1)?.['tool_calls'] as readonly object[] | null | undefined;
  return (calls ?? []).length > 0;
}

/** Written behind the last message's text to find its end in the prompt: a template may trim or move what it is given. */
const mark = '<|the final message ends here|>';

/** The messages as the template is given them. */
export function marked(messages: readonly Message[], ending: PromptEnding): readonly Message[] {
  const last = messages.at(-1);
  if (ending !== 'continue' || last === undefined) return messages;
  return [...messages.slice(0, -1), { ...last, content: last.content + mark }];
}

/** The prompt of marked messages up to the mark; null: the template wrote none. */
export function cutAtMark(prompt: string, ending: PromptEnding): string | null {
  if (ending !== 'continue') return prompt;
  const end = prompt.lastIndexOf(mark);
  return end === -1 ? null : prompt.slice(0, end);
}
