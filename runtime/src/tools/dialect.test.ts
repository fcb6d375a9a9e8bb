import { expect, test } from '@jest/globals';
import { Tokenizer } from '../tokens/tokenizer.js';
import { tokenizerJson } from '../tokens/tokenizer.fixture.js';
import { findDialect } from './dialect.js';

const vocabulary = (...markers: string[]): Tokenizer =>
  Tokenizer.fromJson(tokenizerJson(markers), 'tokenizer.json');
const qwen = vocabulary('<tool_call>', '</tool_call>');

test.each<[string, string | null, Tokenizer, object | null]>([
  ['no template', null, qwen, null],
  ['a template without tools', '{{ messages }} <tool_call>', qwen, null],
  ['a template with tools in words that are not known', '{{ tools }}', qwen, null],
  [
    'Qwen JSON',
    '{{ tools }} <tool_call>',
    qwen,
    { kind: 'qwenJson', begin: { id: 267 }, end: { id: 268 }, bare: false },
  ],
  [
    'Qwen XML',
    '{{ tools }} <tool_call><function=',
    qwen,
    { kind: 'qwenXml', begin: { id: 267 }, end: { id: 268 } },
  ],
  [
    'markers that are no tokens',
    '{{ tools }} <tool_call>',
    vocabulary(),
    { kind: 'qwenJson', begin: { text: '<tool_call>', id: null }, end: { text: '</tool_call>', id: null } },
  ],
  [
    'Llama JSON',
    '{{ tools }} {"name": function name, "parameters": …}',
    vocabulary('<|python_tag|>'),
    { kind: 'llamaJson', begin: { id: 267 }, end: null, bare: true },
  ],
  ['parameters without the marker of Llama', '{{ tools }} "parameters"', vocabulary(), null],
])('of %s', (_, template, tokenizer, expected) => {
  const dialect = findDialect(template, tokenizer);
  if (expected === null) expect(dialect).toBeNull();
  else expect(dialect).toMatchObject(expected);
});
