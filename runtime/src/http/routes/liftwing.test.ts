// --compatibility liftwing: what clients of Wikimedia's Lift Wing send, and what they count on.

import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { events, json, streamEnd } from '../answers.fixture.js';
import { says } from '../scripted-engine.fixture.js';
import { ScriptedServer } from '../scripted-server.fixture.js';

let server: ScriptedServer;
beforeEach(async () => {
  server = await ScriptedServer.start({ tools: true, compatibility: 'liftwing' });
});
afterEach(() => server.stop());

const chatPath = '/openai/v1/chat/completions';
const predictPath = '/v1/models/tiny:predict';
const messages = [{ role: 'user', content: 'x' }];
const prompt = 'x';
const kwargs = (enable_thinking: unknown): object => ({ chat_template_kwargs: { enable_thinking } });

const shared = { topK: 20, minP: 0, repetitionPenalty: 1, frequencyPenalty: 0 };
const plain = { ...shared, temperature: 0.7, topP: 0.8, presencePenalty: 1.5 };
const thinking = { ...shared, temperature: 1, topP: 0.95, presencePenalty: 0 };

/** What the engine was given last. */
function asked(): { readonly text: string; readonly sampling: unknown } {
  const request = server.engine.requests.at(-1);
  if (request === undefined) throw new Error('nothing was asked');
  return { text: String.fromCharCode(...request.prompt), sampling: request.sampling };
}

test.each([
  ['a chat that does not say', chatPath, { messages }, 'user:x!', plain],
  ['a chat with thinking off', chatPath, { messages, ...kwargs(false) }, 'user:x!', plain],
  ['a chat with thinking on', chatPath, { messages, ...kwargs(true) }, 'user:x', thinking],
  ['the same as a text', chatPath, { messages, ...kwargs('true') }, 'user:x', thinking],
  ["the same as Python's text", chatPath, { messages, ...kwargs('True') }, 'user:x', thinking],
  ['the same as a number', chatPath, { messages, ...kwargs(0) }, 'user:x!', plain],
  ['a chat with enable_thinking', chatPath, { messages, enable_thinking: true }, 'user:x', thinking],
  ['the same as a text', chatPath, { messages, enable_thinking: 'true' }, 'user:x', thinking],
  ['a chat with reasoning', chatPath, { messages, reasoning: true }, 'user:x', thinking],
  ['the same as a text', chatPath, { messages, reasoning: 'false' }, 'user:x!', plain],
  ['a prediction that does not say', predictPath, { prompt }, 'user:x!', plain],
  ['a prediction with reasoning', predictPath, { prompt, reasoning: true }, 'user:x', thinking],
  ['the same as a text', predictPath, { prompt, reasoning: 'YES' }, 'user:x', thinking],
  ['a system text', predictPath, { prompt, system: 'y' }, 'system:yuser:x!', plain],
  ['a prediction with a model', predictPath, { prompt, model: 'qwen3-0.6b' }, 'user:x!', plain],
  ['a prediction from token ids', predictPath, { prompt: [104, 105] }, 'hi', thinking],
  ['a text', '/openai/v1/completions', { prompt, add_special_tokens: false }, 'x', thinking],
  ['the tokens of a text', '/openai/v1/completions', { prompt: [104, 105] }, 'hi', thinking],
  ["OpenAI's responses", '/v1/responses', { input: 'x' }, 'user:x!', plain],
  ["Anthropic's messages", '/v1/messages', { messages, max_tokens: 9 }, 'user:x!', plain],
  ['what a request says itself', chatPath, { messages, top_p: 0.5 }, 'user:x!', { ...plain, topP: 0.5 }],
])('%s', async (_what, path, body, text, sampling) => {
  const response = await server.post(path, body);
  expect([response.status, asked()]).toEqual([200, { text, sampling: expect.objectContaining(sampling) }]);
});

test('apply-template writes what a chat becomes', async () => {
  expect(await json(await server.post('/apply-template', { messages }))).toEqual({ prompt: 'user:x!' });
});

test.each([
  ['a budget of no thought', chatPath, { messages, thinking_token_budget: 0 }, 'thinking_token_budget'],
  ['one of a prediction', predictPath, { prompt, thinking_token_budget: 0 }, 'thinking_token_budget'],
  ['a budget without bound', chatPath, { messages, thinking_token_budget: -1 }, 'thinking_token_budget'],
  ['a system text beside messages', predictPath, { messages, system: 'y' }, 'system'],
  ['thoughts about token ids', predictPath, { prompt: [1], reasoning: true }, 'reasoning'],
  ['a system text beside token ids', predictPath, { prompt: [1], system: 'y' }, 'system'],
  ['no token ids', predictPath, { prompt: [] }, 'prompt'],
])('%s is refused', async (_what, path, body, param) => {
  const response = await server.post(path, body);
  expect([response.status, await json(response)]).toMatchObject([400, { error: { param } }]);
});

test.each([
  ['another text', { reasoning: 'perhaps' }, 'reasoning'],
  ['another number', { enable_thinking: 2 }, 'enable_thinking'],
])('a switch of thinking that is %s is refused', async (_what, body, param) => {
  const response = await server.post(chatPath, { messages, ...body });
  const message = expect.stringContaining(`${param} must be true or false, or a text such as "true" or "no"`);
  expect([response.status, await json(response)]).toMatchObject([400, { error: { param, message } }]);
});

test('the last chunk has the usage, unasked', async () => {
  const chunks = await events(await server.chat({ stream: true, reasoning: true }));
  expect(chunks.at(-1)).toEqual(streamEnd);
  const used = chunks.filter(({ usage }) => (usage ?? null) !== null);
  expect(used).toEqual([chunks.at(-2)]);
  expect(used).toMatchObject([{ choices: [{ finish_reason: 'stop' }], usage: { completion_tokens: 7 } }]);
});

test('usage that was asked for comes in a chunk of its own, as everywhere', async () => {
  const chunks = await events(await server.chat({ stream: true, stream_options: { include_usage: true } }));
  expect(chunks.filter(({ usage }) => (usage ?? null) !== null)).toMatchObject([{ choices: [] }]);
});

test('thoughts come as reasoning', async () => {
  const body = { messages: [{ role: 'user', content: 'x<think>' }], reasoning: true };
  server.script = says('thought');
  const answer = await json(await server.post(chatPath, body));
  expect(answer).toMatchObject({ choices: [{ message: { content: '', reasoning: 'thought' } }] });
  server.script = says('thought');
  const chunks = await events(await server.post(chatPath, { ...body, stream: true }));
  const thoughts = chunks.map(({ choices }) => choices[0]?.delta.reasoning ?? '');
  expect(thoughts.join('')).toBe('thought');
});

test.each([
  ['/v1/models/llm-tiny/openai/v1/chat/completions', { messages }, 200],
  ['/v1/models/tiny/openai/v1/chat/completions', { messages }, 200],
  ['/v1/models/llm-small/openai/v1/completions?x=1', { prompt }, 200],
  ['/v1/models/llm-tiny/openai/v1/chat/completions', { messages, model: 'llm-tiny' }, 200],
  ['/v1/models/llm-tiny:predict', { prompt }, 200],
  ['/v1/models/llm-other/openai/v1/chat/completions', { messages }, 404],
  ['/v1/models/llm-tiny/openai/metrics', {}, 404],
])('a path with the model in it: %s', async (path, body, status) => {
  expect((await server.post(path, body)).status).toBe(status);
});

test('the models are listed there too', async () => {
  const response = await server.get('/v1/models/llm-tiny/openai/v1/models');
  expect(await response.json()).toMatchObject({ models: ['tiny', 'small', 'llm-tiny', 'llm-small'] });
});

test('without it none of this holds', async () => {
  const usual = await ScriptedServer.start({ tools: true });
  try {
    const { status } = await usual.post('/v1/models/llm-tiny/openai/v1/chat/completions', { messages });
    const other = await usual.post(predictPath, { prompt, model: 'other' });
    const own = await usual.post(predictPath, { prompt, model: 'small' });
    expect([status, other.status, own.status]).toEqual([404, 404, 200]);
    const chunks = await events(await usual.chat({ stream: true, thinking_token_budget: 0 }));
    expect(chunks.filter(({ usage }) => (usage ?? null) !== null)).toEqual([]);
    expect(usual.engine.requests.at(-1)?.sampling).toMatchObject({ temperature: 1, presencePenalty: 0 });
  } finally {
    await usual.stop();
  }
});
