import { expect, test } from '@jest/globals';
import { pythonLiteralToJson } from './python-literal.js';

// The values are those of Python's ast.literal_eval.
test.each<[string, unknown]>([
  [`{'a': 1, "b": [True, None, 'it\\'s', "q\\""],}`, { a: 1, b: [true, null, "it's", 'q"'] }],
  [String.raw`['x\n\x41\u00e9\U0001f680\q\101']`, ['x\nAé🚀\\qA']],
  ["{ 'a' : {'b': -1.5e3}\n}", { a: { b: -1500 } }],
  ['[1, 2,]', [1, 2]],
  ['[]', []],
])('reads %s', (literal, value) => {
  expect(JSON.parse(pythonLiteralToJson(literal)!)).toEqual(value);
});

test('keeps the digits of numbers', () => {
  expect(pythonLiteralToJson("{'n': 12345678901234567890, 'x': 20.0}")).toBe(
    '{"n":12345678901234567890,"x":20.0}',
  );
});

test.each(['[1 2]', "['a", "{'a', 'b'}", "{'a': b'x'}", "['a' 'b']", '[1,,2]', '{1: 2}', "[f('a')]"])(
  'reads no JSON out of %s',
  (literal) => {
    expect(pythonLiteralToJson(literal)).toBeNull();
  },
);
