import { expect, test } from '@jest/globals';
import { AnswerUsage } from './answer-usage.js';

function usageOf(text: string, partBytes = 7): AnswerUsage {
  const answer = new AnswerUsage();
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.byteLength; at += partBytes) answer.add(bytes.subarray(at, at + partBytes));
  return answer;
}
const usage = '"usage":{"prompt_tokens":5,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":1}}';
const counts = { promptTokens: 5, completionTokens: 7, textTokens: 0 };
const long = 'x'.repeat(9_000);

test.each([
  ['an answer', `{"id":"a","choices":[{"text":"${long}"}],${usage},"kv_transfer_params":null}`],
  ['an answer with its prompt’s tokens behind it', `{"choices":[],${usage},"prompt_logprobs":["${long}"]}`],
  ['a stream', `data: {"choices":[],"usage":null}\n\ndata: {"choices":[],${usage}}\n\ndata: [DONE]\n\n`],
  ['a stream that counts all along', `data: {${usage.replace('7', '6')}}\n\ndata: {${usage}}\n\n`],
  ['a stream with events behind it', `data: {${usage}}\n\ndata: {"text":"${long}","usage":null}\n\n`],
  ['Messages', `{"content":[],"usage": {"input_tokens": 5, "output_tokens": 7}}`],
])('the tokens of %s are read, however it comes', (_, text) => {
  for (const partBytes of [1, 7, 1_000, 100_000]) expect(usageOf(text, partBytes).last).toEqual(counts);
});

test.each([
  ['an answer without', '{"choices":[]}'],
  ['what the model wrote itself', JSON.stringify({ text: `{${usage}}` })],
  ['a count that is none', '{"usage":{"prompt_tokens":-5,"completion_tokens":7}}'],
  ['an answer that was cut off', `{"choices":[],${usage.slice(0, -2)}`],
])('%s has none', (_, text) => {
  expect(usageOf(text).last).toBeNull();
});
