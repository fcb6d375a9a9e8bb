import { expect, test } from '@jest/globals';
import { askText } from './prefill-ask.js';
import { ask } from './prefill-ask.fixture.js';
import { readPrefillAsk } from './read-prefill-ask.js';

const sent = (changes: Readonly<Record<string, unknown>> = {}): unknown => ({
  ...(JSON.parse(askText(ask)) as object),
  ...changes,
});

test('what is asked arrives as it was', () => {
  expect(readPrefillAsk(sent(), 300)).toEqual(ask);
  const part = ask.prompt.subarray(1, 3);
  expect(readPrefillAsk(JSON.parse(askText({ ...ask, prompt: part })), 300).prompt).toEqual(part);
});

test.each<[string, Readonly<Record<string, unknown>>, string]>([
  ['no layout', { layout: undefined }, 'layout must be a text of at most 4096 characters, not nothing'],
  ['no tokens', { prompt: '' }, 'prompt must be tokens of four bytes each, in base64, not ""'],
  ['a part of a token', { prompt: 'AAAA' }, 'prompt must be tokens of four bytes each'],
  ['tokens that are no base64', { prompt: '****' }, 'prompt must be tokens of four bytes each'],
  ['a token that there is not', { prompt: 'LAEAAA==' }, 'prompt has the token 300, and the model'],
  ['a negative token', { prompt: '/////w==' }, 'prompt has the token -1'],
  ['a negative start', { from: -1 }, 'from must be a whole number from 0 to 2147483647, not -1'],
  ['boundaries that fall', { boundaries: [2, 1] }, 'boundaries must be an ascending list'],
  ['too urgent a priority', { priority: -9 }, 'priority must be a whole number from -8 to 8, not -9'],
  ['a time that is none', { maxQueueMs: 0.5 }, 'maxQueueMs must be a whole number from 0'],
  ['a field that is none', { temperature: 1 }, 'temperature is no field here'],
])('%s is refused with its field', (_, changes, message) => {
  expect(() => readPrefillAsk(sent(changes), 300)).toThrow(message);
});

test('what is no object is refused with all that it lacks', () => {
  expect(() => readPrefillAsk(null, 300)).toThrow(/layout .*prompt .*from .*maxQueueMs/);
});
