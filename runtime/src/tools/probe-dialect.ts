// Finds out how a checkpoint writes calls of tools: its chat template renders a conversation with a call, which it shows
// the model as the model's own. A template that leaves calls out may still describe them to the model. One that shows no tools
// leaves it to a message to describe them.

import { ChatTemplateRefusal } from '../tokens/chat-template.js';
import type { ChatRenderer } from '../tokens/template-renderer.js';
import type { Tokenizer } from '../tokens/tokenizer.js';
import { callForms } from './call-forms.js';
import { callFormNames, dialectOf, hasTokens, type ToolDialect } from './dialect.js';

const tool = {
  type: 'function',
  function: {
    name: 'offered_function',
    description: 'What it does.',
    parameters: {
      type: 'object',
      properties: { argument: { type: 'string', description: 'What it is.' } },
      required: ['argument'],
    },
  },
};
/** Stands for a message that describes tools. */
const instructions = { role: 'system', content: 'the instructions' };
const question = { role: 'user', content: 'the question' };
/** Of a name that the prompt has nowhere else. Mistral's templates want an id of nine characters. */
const call = {
  id: 'call00001',
  type: 'function',
  function: { name: 'called_function', arguments: { argument: 'text' } },
};
const conversation = [
  question,
  { role: 'assistant', content: '', tool_calls: [call] },
  { role: 'tool', tool_call_id: call.id, content: 'the result' },
];

export interface ProbedDialect {
  /** Null: the template shows the model no tools, or there is no reader for its calls. */
  readonly dialect: ToolDialect | null;
  /** The call, and what the template writes around it; null: it writes none. */
  readonly written: string | null;
  /** Whose message has to describe the tools, since the template shows the model none; null: it shows them. */
  readonly describedBy: 'system' | 'user' | null;
}

/** @throws FailureError QueueTimeout, EngineFault: the template could not be tried */
export async function probeDialect(renderer: ChatRenderer, tokenizer: Tokenizer): Promise<ProbedDialect> {
  const prompt = (await tried(renderer, conversation, [tool])) ?? (await tried(renderer, [question], [tool]));
  if (prompt?.includes(tool.function.name) !== true)
    return { dialect: null, written: null, describedBy: await instructingRole(renderer) };
  const written = writtenIn(prompt);
  const kind = callFormNames.find((each) => callForms[each].written.test(written ?? prompt));
  const isKnown = kind !== undefined && hasTokens(kind, tokenizer);
  return { dialect: isKnown ? dialectOf(kind, tokenizer) : null, written, describedBy: null };
}

/** The system's where its messages reach the model. */
async function instructingRole(renderer: ChatRenderer): Promise<'system' | 'user'> {
  const prompt = await tried(renderer, [instructions, question]);
  return prompt?.includes(instructions.content) === true ? 'system' : 'user';
}

/** Null: the template refuses the conversation. */
async function tried(
  renderer: ChatRenderer,
  messages: readonly object[],
  tools: readonly object[] | null = null,
): Promise<string | null> {
  try {
    return await renderer.render({ messages: messages.map((each) => ({ ...each })), tools });
  } catch (error) {
    if (error instanceof ChatTemplateRefusal) return null;
    throw error;
  }
}

function writtenIn(prompt: string): string | null {
  const at = prompt.indexOf(call.function.name);
  if (at === -1) return null;
  const asked = prompt.lastIndexOf(question.content, at);
  const answered = prompt.indexOf('the result', at);
  return prompt.slice(
    asked === -1 ? 0 : asked + question.content.length,
    answered === -1 ? undefined : answered,
  );
}
