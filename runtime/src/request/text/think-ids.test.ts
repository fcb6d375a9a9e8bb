import { expect, test } from '@jest/globals';
import { FailureError } from '@llmservice/crds';
import { thrownBy } from '../../../../crds/src/thrown-by.fixture.js';
import { Tokenizer } from '../../tokens/tokenizer.js';
import { tokenizerJson } from '../../tokens/tokenizer.fixture.js';
import { thinkIds } from './think-ids.js';

const vocabulary = (...markers: string[]): Tokenizer =>
  Tokenizer.fromJson(tokenizerJson(markers), 'tokenizer.json');
const thinking = vocabulary('<think>', '</think>', '[THINK]', '[/THINK]');

test.each<[string | undefined, object]>([
  [undefined, { begin: 267, end: 268, label: '' }],
  ['qwen3', { begin: 267, end: 268, label: '' }],
  ['deepseek_r1', { begin: 267, end: 268, label: '' }],
  ['glm45', { begin: 267, end: 268, label: '' }],
  ['mistral', { begin: 269, end: 270, label: '' }],
])('the parser %s has the tokens %j', (parser, expected) => {
  expect(thinkIds(thinking, 271, parser)).toEqual(expected);
});

test.each([undefined, 'gemma4'])('a model of Gemma 4 has a channel for its thoughts: %s', (parser) => {
  const gemma = vocabulary('<|channel>', '<channel|>');
  expect(thinkIds(gemma, 300, parser)).toEqual({ begin: 267, end: 268, label: 'thought\n' });
});

test('a model without such tokens, or without rows for them, has none', () => {
  expect(thinkIds(vocabulary(), 300, undefined)).toBeNull();
  expect(thinkIds(vocabulary('<think>'), 300, undefined)).toBeNull();
  expect(thinkIds(thinking, 268, undefined)).toBeNull();
});

test('a parser whose tokens the model has not is refused', () => {
  const { reason, message } = thrownBy(FailureError, () => thinkIds(vocabulary(), 300, 'mistral'));
  expect([reason, message]).toEqual([
    'InvalidEngineConfig',
    'engine.reasoningParser is mistral, but the model has no tokens [THINK] and [/THINK]',
  ]);
});
