// Conversations with tools for chat templates that show none: a message describes the tools, and earlier calls and results
// are text in the messages' content. Calls are written in the form in which those of answers are read, results as Hermes,
// Qwen and SmolLM2 were trained on them. Pure.

import type { ChatTemplateInput } from '../tokens/chat-template.js';
import { callForms, type CallForm, type CallFormName } from './call-forms.js';
import { xmlSyntaxes, type XmlSyntax } from './xml-syntax.js';

type Messages = ChatTemplateInput['messages'];
type Message = Messages[number];

export interface ToolDescription {
  /** Of calls. */
  readonly kind: CallFormName;
  /** Whose first message describes the tools. */
  readonly role: 'system' | 'user';
}

/** As `readMessages` gives it. */
interface Call {
  readonly function: { readonly name: string; readonly arguments: unknown };
}

const exampleCall: Call = { function: { name: 'NAME', arguments: { ARGUMENT: 'VALUE' } } };

/** @param messages whose content is text */
export function withToolsDescribed(
  { messages, tools, ...others }: ChatTemplateInput,
  { kind, role }: ToolDescription,
): ChatTemplateInput {
  const form = callForms[kind];
  const texts = withCallsAsText(messages, form);
  const described = tools ?? [];
  return {
    ...others,
    messages: described.length === 0 ? texts : instructed(texts, role, instructionsFor(described, form)),
  };
}

function instructionsFor(tools: readonly unknown[], form: CallForm): string {
  return [
    '# Tools',
    '',
    'You can call functions. Each line between <tools> and </tools> describes one of them, with a JSON schema of its arguments:',
    '<tools>',
    ...tools.map(json),
    '</tools>',
    '',
    'To call a function, write its name and its arguments like this:',
    withCalls('', [exampleCall], form),
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
function withCallsAsText(messages: Messages, form: CallForm): Messages {
  const texts: Message[] = [];
  for (const [index, message] of messages.entries()) {
    const text = asText(message, form);
    const last = texts.at(-1);
    if (last !== undefined && text['role'] === 'user' && messages[index - 1]?.['role'] === 'tool')
      texts[texts.length - 1] = { ...last, content: `${contentOf(last)}\n${contentOf(text)}` };
    else texts.push(text);
  }
  return texts;
}

function asText(message: Message, form: CallForm): Message {
  const content = contentOf(message);
  if (message['role'] === 'tool')
    return { role: 'user', content: `<tool_response>\n${content}\n</tool_response>` };
  const { tool_calls: calls, ...others } = message;
  if (!Array.isArray(calls)) return message;
  return { ...others, content: withCalls(content, calls as readonly Call[], form) };
}

/** Calls behind the content, as a reader of the form finds them. */
function withCalls(content: string, calls: readonly Call[], form: CallForm): string {
  const { begin, end, list, bare } = form;
  const written = calls.map((call) => callAsText(call, form));
  const blocks = list === null ? written : [list[0] + written.join(list[1]) + list[2]];
  // Calls without a marker are calls where they begin the answer; behind text each needs its own.
  if (bare && content === '') return blocks.join('; ');
  const marked = blocks.map((block) => begin + block + (end ?? ''));
  return [content, ...marked].filter((part) => part !== '').join('\n');
}

function callAsText({ function: { name, arguments: given } }: Call, { around, style }: CallForm): string {
  const [before, after] = around(name);
  return before + (style === 'json' ? json(given) : parametersOf(given, xmlSyntaxes[style])) + after;
}

/** Of arguments that are no object, which a model once wrote, the text. */
function parametersOf(given: unknown, syntax: XmlSyntax): string {
  if (typeof given !== 'object' || given === null) return `\n${String(given)}\n`;
  const { beginParameter, endKey, beginValue, endParameter, isPadded } = syntax;
  const padding = isPadded ? '\n' : '';
  const written = (value: unknown): string => (typeof value === 'string' ? value : json(value));
  const parameters = Object.entries(given).map(
    ([name, value]) =>
      `${beginParameter}${name}${endKey}${beginValue}${padding}${written(value)}${padding}${endParameter}\n`,
  );
  return `\n${parameters.join('')}`;
}

const contentOf = ({ content }: Message): string => (typeof content === 'string' ? content : '');

/** As Python's json.dumps() spaces it, which models were trained on. */
function json(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(json).join(', ')}]`;
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}: ${json(member)}`).join(', ')}}`;
}
