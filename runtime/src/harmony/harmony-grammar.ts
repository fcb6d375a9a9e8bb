// The grammar of an answer in channels that must call tools, whose calls must follow their schemas, or whose text must
// follow a format: thoughts come before it, and are free.

import type { ToolCallsText } from '@llmservice/native';
import { writtenAs } from '../tools/exact-json.js';
import type { Schema, Tool, ToolUse } from '../tools/tool.js';
import {
  formatOf,
  maxWhitespace,
  oneOf,
  standInCharacters,
  type Format,
  type GrammarSource,
} from '../tools/tool-grammar.js';
import { harmonyTexts, type HarmonyMark, type HarmonyTokens } from './harmony-tokens.js';

const marks = ['channel', 'message', 'end', 'start', 'constrain'] as const satisfies readonly HarmonyMark[];

const standIns = marks.map((mark, i) => ({ mark, character: standInCharacters[i] ?? '' }));

const literal = (value: string): Format => ({
  type: 'const_string',
  value: standIns.reduce(
    (text, { mark, character }) => text.replaceAll(harmonyTexts[mark], character),
    value,
  ),
});

const sequence = (...elements: readonly Format[]): Format => ({ type: 'sequence', elements });

/** Any text without markers. */
const prose: Format = { type: 'grammar', grammar: 'root ::= [^\\x07\\x08\\x0b\\x0c\\x1b]*\n' };

const thought = sequence(
  literal('<|channel|>analysis<|message|>'),
  prose,
  literal('<|end|><|start|>assistant'),
);

/** What a model says to the user before it calls. */
const preamble = sequence(
  literal('<|channel|>commentary<|message|>'),
  prose,
  literal('<|end|><|start|>assistant'),
);

/**
 * Of an answer that begins with the header of its first message.
 * @param use null: the answer may call no tools
 * @param other grammar asked of an answer that is text; null: any
 * @param schemaOf what a tool's arguments must match
 * @returns null where the answer is free
 */
export function harmonyGrammar(
  use: ToolUse | null,
  tokens: HarmonyTokens,
  other: GrammarSource | null,
  schemaOf: (tool: Tool, style: 'json') => Schema,
): GrammarSource | null {
  const choice = use?.choice ?? 'auto';
  if (choice === 'auto' && other === null && use?.tools.some(({ strict }) => strict) !== true) return null;
  const called = (use?.tools ?? []).filter(({ name }) => typeof choice !== 'object' || name === choice.name);
  const calls = called.map((tool) => callOf(tool, schemaOf(tool, 'json')));
  const answer = sequence(literal('<|channel|>final<|message|>'), other === null ? prose : formatOf(other));
  // Where a call is required, no text is content.
  const mayExplain = use !== null && choice === 'auto' && other === null;
  const before = { type: 'star', content: mayExplain ? oneOf([thought, preamble]) : thought };
  const text: ToolCallsText = {
    begin: null,
    end: null,
    within: standIns.map(({ mark, character }) => ({ id: tokens[mark], text: character })),
    body: sequence(before, oneOf(choice === 'auto' ? [...calls, answer] : calls)),
    otherwise: null,
    many: false,
  };
  return { kind: 'toolCalls', text: writtenAs(text) };
}

/** As the models write it. The token that ends it ends the answer. */
const callOf = ({ name }: Tool, schema: Schema): Format =>
  sequence(literal(`<|channel|>commentary to=functions.${name} <|constrain|>json<|message|>`), {
    type: 'json_schema',
    json_schema: schema,
    style: 'json',
    max_whitespace_cnt: maxWhitespace,
  });
