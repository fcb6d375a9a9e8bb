import { expect, test } from '@jest/globals';
import { AnswerTail } from './answer-tail.js';

function tailOf(text: string, partBytes = 7): AnswerTail {
  const tail = new AnswerTail();
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.byteLength; at += partBytes) tail.add(bytes.subarray(at, at + partBytes));
  return tail;
}
const usage = '"usage":{"prompt_tokens":5,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":1}}';
const counts = { promptTokens: 5, completionTokens: 7, textTokens: 0 };

test.each([
  ['an answer', `{"id":"a","choices":[{"text":"${'x'.repeat(9_000)}"}],${usage},"kv_transfer_params":null}`],
  ['a stream', `data: {"choices":[],"usage":null}\n\ndata: {"choices":[],${usage}}\n\ndata: [DONE]\n\n`],
  ['Messages', `{"content":[],"usage": {"input_tokens": 5, "output_tokens": 7}}`],
])('the tokens of %s are read from its end, however it comes', (_, text) => {
  for (const partBytes of [1, 7, 1_000, 100_000]) expect(tailOf(text, partBytes).usage).toEqual(counts);
});

test.each([
  ['an answer without', '{"choices":[]}'],
  ['what the model wrote itself', JSON.stringify({ text: `{${usage}}` })],
  ['a count that is none', '{"usage":{"prompt_tokens":-5,"completion_tokens":7}}'],
  ['an answer that was cut off', `{"choices":[],${usage.slice(0, -2)}`],
])('%s has none', (_, text) => {
  expect(tailOf(text).usage).toBeNull();
});
