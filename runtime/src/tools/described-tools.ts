// Conversations with tools for chat templates that show none: a message describes the tools, and earlier calls and results
// are text in the messages' content. Calls are written in the form in which those of answers are read, results as Hermes,
// Qwen and SmolLM2 were trained on them. Pure.

import type { ChatTemplateInput } from '../tokens/chat-template.js';
import { llamaBegin, type ToolDialect } from './dialect.js';

type Messages = ChatTemplateInput['messages'];
type Message = Messages[number];

export interface ToolDescription {
  /** Of calls. */
  readonly kind: ToolDialect['kind'];
  /** Whose first message describes the tools. */
  readonly role: 'system' | 'user';
}

/** As `readMessages` gives it. */
interface Call {
  readonly function: { readonly name: string; readonly arguments: unknown };
}

/** @param messages whose content is text */
export function withToolsDescribed(
  { messages, tools, ...others }: ChatTemplateInput,
  { kind, role }: ToolDescription,
): ChatTemplateInput {
  const texts = withCallsAsText(messages, kind);
  const described = tools ?? [];
  return {
    ...others,
    messages: described.length === 0 ? texts : instructed(texts, role, instructionsFor(described, kind)),
  };
}

function instructionsFor(tools: readonly unknown[], kind: ToolDialect['kind']): string {
  return [
    '# Tools',
    '',
    'You can call functions. Each line between <tools> and </tools> describes one of them, with a JSON schema of its arguments:',
    '<tools>',
    ...tools.map(json),
    '</tools>',
    '',
    'To call a function, write its name and its arguments like this:',
    callAsText[kind]('NAME', { ARGUMENT: 'VALUE' }),
    '',
    'Several calls may follow each other. You then get their results between <tool_response> and </tool_response>. ' +
      'If no function helps, answer without a call.',
  ].join('\n');
}

/** A message of the system continues the client's own; one of the user comes before what the user says. */
function instructed(messages: Messages, role: ToolDescription['role'], instructions: string): Messages {
  const isSystem = role === 'system';
  const at = isSystem ? 0 : messages.findIndex((message) => message['role'] === role);
  const message = messages[at];
  if (message?.['role'] !== role) return [{ role, content: instructions }, ...messages];
  const said = contentOf(message);
  const parts = isSystem ? [said, instructions] : [instructions, said];
  return messages.with(at, { ...message, content: parts.filter((part) => part !== '').join('\n\n') });
}

/** Results, and what the user says behind them, are one message: many templates want users and assistants in turn. */
function withCallsAsText(messages: Messages, kind: ToolDialect['kind']): Messages {
  const texts: Message[] = [];
  for (const [index, message] of messages.entries()) {
    const text = asText(message, kind);
    const last = texts.at(-1);
    if (last !== undefined && text['role'] === 'user' && messages[index - 1]?.['role'] === 'tool')
      texts[texts.length - 1] = { ...last, content: `${contentOf(last)}\n${contentOf(text)}` };
    else texts.push(text);
  }
  return texts;
}

function asText(message: Message, kind: ToolDialect['kind']): Message {
  const content = contentOf(message);
  if (message['role'] === 'tool')
    return { role: 'user', content: `<tool_response>\n${content}\n</tool_response>` };
  const { tool_calls: calls, ...others } = message;
  if (!Array.isArray(calls)) return message;
  const written = (calls as readonly Call[]).map((call) =>
    callAsText[kind](call.function.name, call.function.arguments),
  );
  const parts = content === '' ? written : [content, ...written];
  return { ...others, content: parts.join(separatorOf(kind, content)) };
}

/** Llama's objects are calls where they begin the answer; behind text each needs its marker. */
function separatorOf(kind: ToolDialect['kind'], content: string): string {
  if (kind !== 'llamaJson') return '\n';
  return content === '' ? '; ' : `\n${llamaBegin}`;
}

const callAsText: Readonly<Record<ToolDialect['kind'], (name: string, given: unknown) => string>> = {
  qwenJson: (name, given) =>
    `<tool_call>\n{"name": ${json(name)}, "arguments": ${json(given)}}\n</tool_call>`,
  qwenXml: (name, given) =>
    `<tool_call>\n<function=${name}>\n${parametersOf(given)}</function>\n</tool_call>`,
  llamaJson: (name, given) => `{"name": ${json(name)}, "parameters": ${json(given)}}`,
};

/** Of arguments that are no object, which a model once wrote, the text. */
function parametersOf(given: unknown): string {
  if (typeof given !== 'object' || given === null) return `${String(given)}\n`;
  const written = (value: unknown): string => (typeof value === 'string' ? value : json(value));
  return Object.entries(given)
    .map(([name, value]) => `<parameter=${name}>\n${written(value)}\n</parameter>\n`)
    .join('');
}

const contentOf = ({ content }: Message): string => (typeof content === 'string' ? content : '');

/** As Python's json.dumps() spaces it, which models were trained on. */
function json(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(json).join(', ')}]`;
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}: ${json(member)}`).join(', ')}}`;
}
