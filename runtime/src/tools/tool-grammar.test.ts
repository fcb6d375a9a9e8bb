// Grammars of answers, as the engine is asked for them; those of Qwen's dialects with marker tokens in the routes' tests.

import { expect, test } from '@jest/globals';
import { toolGrammar, type GrammarSource } from './tool-grammar.js';
import {
  argsId,
  beginId,
  callIdId,
  dialects,
  endId,
  quoteId,
  type DialectName,
} from './tool-reader.fixture.js';
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

test('prose does not begin as a list of strict calls does', () => {
  const format = formatOf('xlamJson', { choice: 'auto', tools: strict }, null);
  expect(format).toMatchObject({
    elements: [
      { elements: [{}, { value: '[' }, { separator: ', ' }, { value: ']' }] },
      { grammar: expect.stringMatching(/^root ::= "" \| \[\^\\\[ /) },
    ],
  });
});

const argumentsOf = { type: 'json_schema', json_schema: { type: 'object' }, style: 'json' };
const tag = (begin: string, end: string): unknown => ({
  type: 'tag',
  begin,
  content: expect.objectContaining(argumentsOf),
  end,
});
const listed = ['a', 'b'].map((name) => tag(`{"name": "${name}", "arguments": `, '}'));
const named = (name: string): unknown => ({
  type: 'sequence',
  elements: [{ type: 'const_string', value: `${name}\b` }, expect.objectContaining(argumentsOf)],
});
const fenced = tag('<｜tool▁call▁begin｜>function<｜tool▁sep｜>b\n```json\n', '\n```<｜tool▁call▁end｜>');

test.each<[string, DialectName, Partial<ToolUse>, object]>([
  [
    'a list of calls in one block',
    'mistralJson',
    {},
    {
      begin: beginId,
      end: null,
      within: [],
      otherwise: null,
      many: false,
      body: {
        elements: [
          { type: 'optional', content: { type: 'const_string', value: ' ' } },
          { type: 'const_string', value: '[' },
          { type: 'tags_with_separator', tags: listed, separator: ', ', stop_after_first: false },
          { type: 'const_string', value: ']' },
        ],
      },
    },
  ],
  [
    'a list of one call',
    'mistralJson',
    { choice: { name: 'b' } },
    { body: { elements: [{}, {}, { tags: [listed[1]], stop_after_first: true }, {}] } },
  ],
  [
    'blocks of names and arguments, with characters in the place of marker tokens',
    'mistralNamed',
    {},
    {
      end: null,
      within: [
        { id: callIdId, text: '\u0007' },
        { id: argsId, text: '\b' },
      ],
      many: true,
      body: { type: 'or', elements: [named('a'), named('b')] },
    },
  ],
  [
    'one block of a name and arguments',
    'mistralNamed',
    { choice: { name: 'a' } },
    { many: false, body: named('a') },
  ],
  [
    'strict calls in free text',
    'mistralNamed',
    { choice: 'auto', tools: strict },
    { end: null, otherwise: true },
  ],
  [
    'a call of GLM',
    'glmXml',
    { choice: { name: 'b' } },
    {
      begin: beginId,
      end: endId,
      body: { elements: [{ value: 'b' }, { type: 'json_schema', style: 'glm_xml', max_whitespace_cnt: 1 }] },
    },
  ],
  [
    'a call of Gemma, in JSON',
    'gemma',
    { choice: { name: 'b' } },
    {
      begin: beginId,
      end: endId,
      within: [{ id: quoteId, text: '\u0007' }],
      body: { elements: [{ value: 'call:b' }, argumentsOf] },
    },
  ],
  [
    'calls of MiniMax in one block',
    'miniMaxXml',
    { choice: { name: 'b' } },
    {
      many: false,
      body: {
        elements: [
          {},
          { value: '\n' },
          { tags: [{ begin: '<invoke name="b">', content: { style: 'minimax_xml' }, end: '</invoke>' }] },
          { value: '\n' },
        ],
      },
    },
  ],
  [
    'calls in fences',
    'deepSeek',
    { choice: { name: 'b' } },
    {
      begin: beginId,
      end: endId,
      within: [],
      body: { type: 'tags_with_separator', tags: [fenced], separator: '\n', stop_after_first: true },
    },
  ],
  [
    'a list between two markers',
    'aprielJson',
    { choice: { name: 'b' } },
    { begin: beginId, end: endId, many: false, body: { elements: [{}, {}, { tags: [listed[1]] }, {}] } },
  ],
  [
    'a list between markers that are spelled',
    'spelledNemotron',
    {},
    {
      tags: [
        { begin: '<TOOLCALL>', content: { elements: [{}, {}, { tags: listed }, {}] }, end: '</TOOLCALL>' },
      ],
      stop_after_first: true,
    },
  ],
  [
    'calls of DeepSeek without fences',
    'deepSeekBare',
    { choice: { name: 'b' } },
    {
      body: {
        tags: [
          { begin: '<｜tool▁call▁begin｜>b<｜tool▁sep｜>', content: argumentsOf, end: '<｜tool▁call▁end｜>' },
        ],
        separator: '',
      },
    },
  ],
  [
    'calls of Functionary',
    'spelledFunctionary',
    { choice: { name: 'b' } },
    {
      tags: [{ begin: '<function=', content: { elements: [{ value: 'b>' }, {}] }, end: '</function>' }],
      stop_after_first: true,
    },
  ],
  [
    'calls in fences, between markers that are spelled',
    'spelledDeepSeek',
    { choice: { name: 'b' } },
    { tags: [{ begin: '<｜tool▁calls▁begin｜>', content: { tags: [fenced] }, end: '<｜tool▁calls▁end｜>' }] },
  ],
])('%s (%s)', (_, dialect, use, expected) => {
  const whole = { tools, choice: 'required', parallel: true, ...use } as const;
  const grammar = toolGrammar(whole, dialects[dialect], null, () => ({ type: 'object' }));
  expect(JSON.parse(grammar?.text ?? 'null')).toMatchObject(expected);
});

test('no schema is read where the model decides and none is strict', () => {
  const use = { tools, choice: 'auto', parallel: true } as const;
  const schemaOf = (): never => {
    throw new Error('not wanted');
  };
  expect(toolGrammar(use, dialects.qwenJson, null, schemaOf)).toBeNull();
});
