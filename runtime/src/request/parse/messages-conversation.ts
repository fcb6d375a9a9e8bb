// A conversation of Anthropic's Messages as the messages of a chat: results of tools, blocks of the user's messages there,
// are messages of their own, and the model's thinking and calls stand next to its text.

import { writtenAs } from '../../tools/exact-json.js';
import { openReasoning } from '../body/sealed-reasoning.js';
import type { Violation } from '../body/violation.js';
import type { RawMessage } from '../fields/messages.js';
import {
  serverBlocks,
  type RawBlock,
  type RawDocument,
  type RawResult,
  type RawServerBlock,
  type RawText,
  type RawThinking,
  type RawToolResult,
  type RawTurn,
} from '../fields/messages-fields.js';

const speakersOf = (type: RawBlock['type']): readonly RawTurn['role'][] => {
  if (type === 'text') return ['user', 'assistant', 'system'];
  return type === 'tool_result' || type === 'document' ? ['user'] : ['assistant'];
};

/** Blocks in messages of those who cannot have them, and calls that nothing answers. */
export function* messageViolations(turns: readonly RawTurn[]): Generator<Violation> {
  for (const [turn, { role, content }] of turns.entries())
    for (const [index, { type }] of blocksOf(content).entries()) {
      if (speakersOf(type).includes(role)) continue;
      const param = `messages.${String(turn)}.content.${String(index)}`;
      yield { param, message: `${param}: a message of the ${role} has no ${type} block` };
    }
  const last = turns.at(-1);
  if (last?.role !== 'assistant' || !blocksOf(last.content).some(({ type }) => type === 'tool_use')) return;
  const param = `messages.${String(turns.length - 1)}`;
  yield { param, message: `${param} calls tools: a user's message with tool_result follows` };
}

export function readConversation(system: RawText | undefined, turns: readonly RawTurn[]): RawMessage[] {
  const first: RawMessage[] =
    system === undefined ? [] : [{ role: 'system', content: instructionsOf(system) }];
  return [...first, ...turns.flatMap((turn) => (turn.role === 'assistant' ? [answer(turn)] : ofUser(turn)))];
}

/** Begins what Claude Code sends Anthropic about itself: it changes with each request, and no cached prefix would fit. */
const label = 'x-anthropic-billing-header:';

const instructionsOf = (system: RawText): string =>
  textOf(typeof system === 'string' ? system : system.filter(({ text }) => !text.startsWith(label)));

function answer({ content }: RawTurn): RawMessage {
  const blocks = blocksOf(content);
  const thinking = blocks.flatMap((block) => (block.type === 'thinking' ? [thinkingOf(block)] : [])).join('');
  const calls = blocks.flatMap((block) => (block.type === 'tool_use' ? [block] : []));
  return {
    role: 'assistant',
    content: blocks.map(spoken).join(''),
    reasoning_content: thinking === '' ? null : thinking,
    tool_calls: calls.map(({ id, name, input }) => ({
      id,
      type: 'function',
      function: { name, arguments: writtenAs(input) },
    })),
  };
}

/** What other servers' tools did is shown as it came: templates have no place for it. Redacted thinking is nobody's to read. */
function spoken(block: RawBlock): string {
  if (block.type === 'text') return block.text;
  return isOfServer(block) ? `\n${JSON.stringify(block, readable)}\n` : '';
}

const isOfServer = (block: RawBlock): block is RawServerBlock =>
  serverBlocks.some((type) => type === block.type);

/** Without what only Anthropic's servers read. */
const readable = (key: string, value: unknown): unknown =>
  /^(encrypted_|cache_control$|caller$)/.test(key) ? undefined : value;

/** Thinking that the client did not get is in its signature. */
const thinkingOf = ({ thinking, signature }: RawThinking): string =>
  thinking === '' ? (openReasoning(signature ?? '') ?? '') : thinking;

/** Texts between results of tools are messages of their own, in the order of the blocks. */
function ofUser({ role, content }: RawTurn): RawMessage[] {
  const messages: { role: RawMessage['role']; content: string; tool_call_id?: string }[] = [];
  for (const block of blocksOf(content)) {
    const last = messages.at(-1);
    if (block.type === 'tool_result')
      messages.push({ role: 'tool', tool_call_id: block.tool_use_id, content: resultOf(block) });
    else if (block.type === 'text' || block.type === 'document') {
      const content = block.type === 'text' ? block.text : documentText(block);
      if (last?.role === role) last.content += content;
      else messages.push({ role, content });
    }
  }
  return messages.length === 0 ? [{ role, content: '' }] : messages;
}

/** Between empty lines, so that it does not run into the texts around it. */
function documentText({ source: { data }, title, context }: RawDocument): string {
  const parts = [title, context, data].filter((part) => part != null && part !== '');
  return `\n\n${parts.join('\n')}\n\n`;
}

/** Templates have no place for the mark of an error, so that it goes into the text. */
function resultOf(result: RawToolResult): string {
  const texts = resultsOf(result).map((each) => {
    if (each.type === 'text') return each.text;
    if (each.type === 'document') return documentText(each);
    return `The tool ${each.tool_name} can be called now.\n`;
  });
  return `${result.is_error === true ? 'Error: ' : ''}${texts.join('')}`;
}

export const resultsOf = ({ content }: RawToolResult): readonly RawResult[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? []);

export const blocksOf = (content: RawTurn['content']): readonly RawBlock[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : content;

const textOf = (text: RawText): string =>
  typeof text === 'string' ? text : text.map((block) => block.text).join('');
