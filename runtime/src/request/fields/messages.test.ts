import { expect, test } from '@jest/globals';
import { readMessages, type RawCall, type RawMessage } from './messages.js';

const call = (text: string): RawCall => ({
  id: 'call_1',
  type: 'function',
  function: { name: 'f', arguments: text },
});

test.each<[RawMessage, object]>([
  [
    { role: 'developer', content: 'a' },
    { role: 'system', content: 'a' },
  ],
  [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
      ],
    },
    { role: 'user', content: 'ab' },
  ],
  [
    { role: 'tool', tool_call_id: 'call_1', content: '3' },
    { role: 'tool', tool_call_id: 'call_1', content: '3' },
  ],
  // An answer of ours, as clients send it back.
  [
    {
      role: 'assistant',
      content: 'a',
      reasoning: null,
      reasoning_content: null,
      tool_calls: [],
      refusal: null,
    },
    { role: 'assistant', content: 'a', reasoning: null, refusal: null },
  ],
  [
    { role: 'assistant', content: null, refusal: 'No.' },
    { role: 'assistant', content: 'No.', refusal: 'No.' },
  ],
  [
    { role: 'assistant', content: 'a', reasoning: 'hm' },
    { role: 'assistant', content: 'a', reasoning: 'hm', reasoning_content: 'hm' },
  ],
])('%j is %j for templates', (given, expected) => {
  expect(readMessages([given])).toEqual([expected]);
});

test.each<[string, unknown]>([
  ['{"a": [1]}', { a: [1] }],
  ['', {}],
  ['{"a": ', '{"a": '],
  ['[1]', '[1]'],
])('arguments %j are %j for templates', (text, expected) => {
  expect(readMessages([{ role: 'assistant', content: null, tool_calls: [call(text)] }])).toEqual([
    {
      role: 'assistant',
      content: '',
      tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'f', arguments: expected } }],
    },
  ]);
});

test('arguments that are nested too deep stay text', () => {
  const deep = '{"a":'.repeat(5000) + '1' + '}'.repeat(5000);
  const [message] = readMessages([{ role: 'assistant', content: null, tool_calls: [call(deep)] }]);
  expect(message!['tool_calls']).toEqual([call(deep)]);
});

test('arguments of calls beyond what a context holds stay text', () => {
  const text = JSON.stringify({ a: 'x'.repeat(2 ** 20) });
  const read = readMessages([{ role: 'assistant', tool_calls: [call(text), call(text), call('{"a":1}')] }]);
  const calls = read[0]?.['tool_calls'] as { function: { arguments: unknown } }[];
  expect(calls.map((each) => typeof each.function.arguments)).toEqual(['object', 'string', 'string']);
});
