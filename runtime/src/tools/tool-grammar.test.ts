// Grammars of answers for dialects without marker tokens; those with them are read at the routes' tests.

import { expect, test } from '@jest/globals';
import { toolGrammar, type GrammarSource } from './tool-grammar.js';
import { dialects, type DialectName } from './tool-reader.fixture.js';
import type { ToolUse } from './tool.js';

const tools = ['a', 'b'].map((name) => ({ name, parameters: null, strict: false }));
const strict = tools.map((tool) => ({ ...tool, strict: true }));
const other: GrammarSource = { kind: 'regex', text: 'x+' };

const formatOf = (dialect: DialectName, use: Partial<ToolUse>, beside: GrammarSource | null): unknown => {
  const whole = { tools, choice: 'required', parallel: true, ...use } as const;
  const grammar = toolGrammar(whole, dialects[dialect], beside, () => ({ type: 'object' }));
  return grammar?.kind === 'format' ? (JSON.parse(grammar.text) as unknown) : grammar;
};

const calls = (name: string, key: string): unknown =>
  expect.objectContaining({
    elements: [
      { type: 'const_string', value: expect.stringContaining(`{"name": "${name}", "${key}": `) },
      expect.objectContaining({ type: 'json_schema', json_schema: { type: 'object' } }),
      { type: 'const_string', value: expect.stringContaining('}') },
    ],
  });
const either = { type: 'or', elements: [calls('a', 'arguments'), calls('b', 'arguments')] };
const eitherOfLlama = { type: 'or', elements: [calls('a', 'parameters'), calls('b', 'parameters')] };

test.each<[string, DialectName, Partial<ToolUse>, GrammarSource | null, unknown]>([
  ['one of Llama at the most', 'llamaJson', {}, null, eitherOfLlama],
  ['the one that is named', 'llamaJson', { choice: { name: 'b' } }, null, calls('b', 'parameters')],
  ['nothing where the model decides', 'llamaJson', { choice: 'auto' }, null, null],
  [
    'a call or the other grammar',
    'llamaJson',
    { choice: 'auto' },
    other,
    { type: 'or', elements: [eitherOfLlama, { type: 'regex', pattern: 'x+' }] },
  ],
  [
    'a strict call, or prose that does not begin like one',
    'llamaJson',
    { choice: 'auto', tools: strict },
    null,
    { type: 'or', elements: [eitherOfLlama, expect.objectContaining({ type: 'grammar' })] },
  ],
  [
    'calls between markers that are spelled',
    'spelled',
    {},
    null,
    expect.objectContaining({
      type: 'tags_with_separator',
      tags: [{ type: 'tag', begin: '<tool_call>', content: either, end: '</tool_call>' }],
      stop_after_first: false,
    }),
  ],
  [
    'strict calls in free text, between markers that are spelled',
    'spelled',
    { choice: 'auto', tools: strict },
    null,
    expect.objectContaining({ type: 'triggered_tags', triggers: ['<tool_call>'] }),
  ],
])('%s (%s)', (_, dialect, use, beside, expected) => {
  expect(formatOf(dialect, use, beside)).toEqual(expected);
});

test('no schema is read where the model decides and none is strict', () => {
  const use = { tools, choice: 'auto', parallel: true } as const;
  const schemaOf = (): never => {
    throw new Error('not wanted');
  };
  expect(toolGrammar(use, dialects.qwenJson, null, schemaOf)).toBeNull();
});
