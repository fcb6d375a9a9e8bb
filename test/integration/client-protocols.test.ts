// What OpenAI's and Anthropic's own Node clients make of a whole replica by their newer protocols: the same answer as by
// chat completions, streamed and not.

import Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import OpenAI from 'openai';
import { demoCheckpoint, ReplicaProcess } from './replica-process.js';

jest.setTimeout(120_000);

let replica: ReplicaProcess;
let openai: OpenAI;
let anthropic: Anthropic;
beforeAll(async () => {
  replica = await ReplicaProcess.start({ uri: demoCheckpoint });
  await replica.ready();
  openai = new OpenAI({ baseURL: `${replica.url}/v1`, apiKey: 'none', maxRetries: 0 });
  anthropic = new Anthropic({ baseURL: replica.url, apiKey: 'none', maxRetries: 0 });
});
afterAll(() => replica.stop());

const model = 'demo';
const question = 'What is the capital of France?';
const messages = [{ role: 'user' as const, content: question }];

async function byChat(more: object = {}): Promise<{ text: string; usage: OpenAI.CompletionUsage }> {
  const { choices, usage } = await openai.chat.completions.create({
    model,
    messages,
    temperature: 0,
    max_completion_tokens: 48,
    ...more,
  });
  const text = choices[0]!.message.content!;
  expect(text).toContain('Paris');
  return { text, usage: usage! };
}

test('Responses answer as a chat does', async () => {
  const { text, usage } = await byChat();
  const asked = { model, input: question, temperature: 0, max_output_tokens: 48 };
  const whole = await openai.responses.create(asked);
  const deltas: string[] = [];
  const streamed = await openai.responses
    .stream(asked)
    .on('response.output_text.delta', ({ delta }) => deltas.push(delta))
    .finalResponse();
  expect([whole.output_text, streamed.output_text, deltas.join('')]).toEqual([text, text, text]);
  for (const response of [whole, streamed])
    expect(response).toMatchObject({
      status: 'completed',
      usage: { input_tokens: usage.prompt_tokens, output_tokens: usage.completion_tokens },
    });
});

test('Messages answer as a chat that is not to think does', async () => {
  const { text, usage } = await byChat({ reasoning_effort: 'none' });
  const asked = { model, messages, max_tokens: 48, ...{ temperature: 0 } };
  const whole = await anthropic.messages.create(asked);
  const stream = anthropic.messages.stream(asked);
  const deltas: string[] = [];
  stream.on('text', (delta) => deltas.push(delta));
  expect([await stream.finalText(), deltas.join('')]).toEqual([text, text]);
  expect(whole).toMatchObject({ content: [{ type: 'text', text }], stop_reason: 'end_turn' });
  for (const { usage: reported } of [whole, await stream.finalMessage()])
    expect([reported.input_tokens + reported.cache_read_input_tokens!, reported.output_tokens]).toEqual([
      usage.prompt_tokens,
      usage.completion_tokens,
    ]);
  const counted = await anthropic.messages.countTokens({ model, messages });
  expect(counted.input_tokens).toBe(usage.prompt_tokens);
});
