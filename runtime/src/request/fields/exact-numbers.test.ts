import { expect, test } from '@jest/globals';
import { noteNames } from '../../tools/written-names.js';
import { withStandIns } from './exact-numbers.js';
import { readMessages, type RawMessage } from './messages.js';

const asked = (...texts: string[]): RawMessage[] => [
  { role: 'user', content: '1.0' },
  {
    role: 'assistant',
    content: null,
    tool_calls: texts.map((text) => ({ function: { name: 'f', arguments: text } })),
  },
];
/** What a template makes of the calls, here JSON. */
const written = (...texts: string[]): string => {
  const { messages, restore } = withStandIns(readMessages(asked(...texts)));
  return restore(JSON.stringify(messages.map(({ content, tool_calls }) => [content, tool_calls])));
};

test.each([
  '0.0000001',
  '123456789.123456789',
  '1.1234567890123456',
  '20.0',
  '-0.0',
  '1e5',
  '1E+2',
  '0.50',
  '12345678901234567890',
  '1e400',
  '3',
  '-7.25',
  '0',
])('the number %s stays as it was written', (number) => {
  expect(written(`{"a":[{"b":${number}}]}`)).toContain(`{"a":[{"b":${number}}]}`);
});

test('several keep their places, and texts that look like numbers are none', () => {
  const many = Array.from({ length: 300 }, (_, i) => `"k${String(i)}":${String(i)}.0`).join(',');
  expect(written(`{${many}}`, '{"t":"1.0","n":1.0}')).toContain(many);
  expect(written('{"t":"1.0","n":1.0}')).toContain('{"t":"1.0","n":1.0}');
});

test('what only looks like a stand-in is left alone', () => {
  const { messages, restore } = withStandIns(readMessages(asked('{"a":1.0}')));
  const standIn = Number(/"a":(\d{16})/.exec(JSON.stringify(messages))?.[1]);
  expect(restore(String(standIn))).toBe('1.0');
  expect(restore(String(standIn + 1))).toBe(String(standIn + 1));
});

test('the numbers of very long calls are as JavaScript has them', () => {
  const long = `{"n":1.0,"text":"${'x'.repeat(262_144)}"}`;
  expect(written(long, '{"n":2.0}')).toMatch(/"n":1,.*"n":2\.0/);
});

test('names that are whole numbers keep their places, in calls and in tools', () => {
  const text = '{"b":1,"10":{"z":2.0,"0":[{"x":1,"3":2}]},"2":4}';
  expect(written(text)).toContain(text);
  const tools = '[{"b":{"10":true,"a":null,"2":{}}},{"2":0,"1":1}]';
  const given = JSON.parse(tools) as unknown[];
  noteNames(given, tools);
  const stoodIn = withStandIns([], given);
  expect(stoodIn.restore(JSON.stringify(stoodIn.tools))).toBe(tools);
});
