// Inputs of custom tools out of the arguments that a model writes, in whatever pieces.

import { expect, test } from '@jest/globals';
import { CustomInputs } from './custom-inputs.js';

const start = { id: 'call_0', name: 'patch' };

/** Of one call whose arguments come in these pieces. */
function inputOf(...pieces: string[]): string {
  const inputs = new CustomInputs(new Set(['patch']));
  return pieces
    .flatMap((piece, i) => inputs.read([{ index: 0, start: i === 0 ? start : null, arguments: piece }]))
    .map((call) => call.arguments)
    .join('');
}

test.each([
  ['a text', '{"input": "*** Begin"}', '*** Begin'],
  ['one with escapes', '{ "input" :"a\\n\\"b\\"\\\\\\u00e9\\ud83d\\ude00\\/"} ', 'a\n"b"\\é😀/'],
  ['an empty one', '{"input":""}', ''],
  ['one that a limit ended', '{"input":"half', 'half'],
  ['other arguments', '{"text": "x"}', '{"text": "x"}'],
  ['none', '{}', '{}'],
  ['a number', '{"input": 5}', '{"input": 5}'],
])('%s, however it is cut', (_, text, expected) => {
  expect(inputOf(text)).toBe(expected);
  expect(inputOf(...Array.from(text))).toBe(expected);
  for (let at = 0; at <= text.length; at++) expect(inputOf(text.slice(0, at), text.slice(at))).toBe(expected);
});

test('no piece ends within a character', () => {
  const inputs = new CustomInputs(new Set(['patch']));
  const pieces = Array.from('{"input":"\\ud83d\\ude00\\ud83dx\\n"}').map(
    (piece, i) => inputs.read([{ index: 0, start: i === 0 ? start : null, arguments: piece }])[0]!.arguments,
  );
  expect(pieces.filter((piece) => piece !== '')).toEqual(['😀', '\ud83dx', '\n']);
});

test('arguments of functions stay what they are, between calls of custom tools', () => {
  const inputs = new CustomInputs(new Set(['patch']));
  const calls = [start, { id: 'call_1', name: 'time' }, start].map((each, index) => ({
    index,
    start: each,
    arguments: '{"input":"x"}',
  }));
  expect(inputs.read(calls).map((call) => call.arguments)).toEqual(['x', '{"input":"x"}', 'x']);
});
