import { expect, test } from '@jest/globals';
import { withStandIns } from './exact-numbers.js';
import { readMessages } from './messages.js';

const asked = (...texts: string[]): unknown => [
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

test.each(['20.0', '-0.0', '1e5', '1E+2', '0.50', '12345678901234567890', '1e400', '3', '-7.25', '0'])(
  'the number %s stays as it was written',
  (number) => {
    expect(written(`{"a":[{"b":${number}}]}`)).toContain(`{"a":[{"b":${number}}]}`);
  },
);

test('several keep their places, and texts that look like numbers are none', () => {
  const many = Array.from({ length: 300 }, (_, i) => `"k${String(i)}":${String(i)}.0`).join(',');
  expect(written(`{${many}}`, '{"t":"1.0","n":1.0}')).toContain(many);
  expect(written('{"t":"1.0","n":1.0}')).toContain('{"t":"1.0","n":1.0}');
});

test('what is not there to be restored is left alone', () => {
  expect(withStandIns([]).restore('1234567890123456')).toBe('1234567890123456');
});

test('the numbers of very long calls are as JavaScript has them', () => {
  const long = `{"n":1.0,"text":"${'x'.repeat(262_144)}"}`;
  expect(written(long, '{"n":2.0}')).toMatch(/"n":1,.*"n":2\.0/);
});
