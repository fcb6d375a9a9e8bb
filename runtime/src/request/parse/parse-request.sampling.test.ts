// How the answer to a request is sampled, and whether the model thinks about it: what the request says, before what the
// checkpoint has.

import { expect, test } from '@jest/globals';
import type OpenAI from 'openai';
import { noDefaults } from '../fields/generation-defaults.fixture.js';
import { checkpointDefaults } from '../fields/generation-defaults.js';
import { parseRequest } from './parse-request.js';
import type { GenerationKind } from '../body/field-table.js';

const defaults = {
  ...noDefaults,
  ...checkpointDefaults({ temperature: 0.6, top_k: 20, eos_token_id: [7, 8] }, {}),
};
const parse = (kind: GenerationKind, body: object): ReturnType<typeof parseRequest> =>
  parseRequest(kind, body, defaults, 99n);
const messages = [{ role: 'user', content: 'x' }];
/** Each effort of OpenAI's client, and whether the model is to think. */
const efforts: Readonly<Record<NonNullable<OpenAI.ReasoningEffort>, boolean>> = {
  none: false,
  minimal: true,
  low: true,
  medium: true,
  high: true,
  xhigh: true,
  max: true,
};
const chat = (body: object): ReturnType<typeof parseRequest> => parse('chat', { messages, ...body });
const kwargsOf = (kind: GenerationKind, body: object): unknown => {
  const [prompt] = parse(kind, { messages, ...body }).prompts;
  return prompt?.kind === 'messages' ? prompt.templateKwargs : null;
};

test('takes the checkpoint’s sampling defaults, and OpenAI’s where it has none', () => {
  expect(chat({}).sampling).toMatchObject({
    temperature: 0.6,
    topK: 20,
    topP: 1,
    minP: 0,
    repetitionPenalty: 1,
    seed: 99n,
  });
  expect(defaults.eosIds).toEqual([7, 8]);
});

test.each([
  ['chat', {}, 0.6],
  ['chat', { enable_thinking: true }, 0.6],
  ['chat', { reasoning_effort: 'none' }, 0.2],
  ['predict', {}, 0.2],
  ['predict', { reasoning: 'true' }, 0.6],
  ['chat', { enable_thinking: false, temperature: 1.5 }, 1.5],
] as const)('samples by mode on %s with %j', (kind, body, temperature) => {
  const sampling_defaults = { plain: { temperature: 0.2, presence_penalty: 1.5, top_p: 'x' } };
  const byMode = { ...noDefaults, ...checkpointDefaults({ temperature: 0.6, sampling_defaults }, {}) };
  const { sampling } = parseRequest(kind, { messages, ...body }, byMode, 99n);
  expect(sampling).toMatchObject({ temperature, presencePenalty: temperature === 0.6 ? 0 : 1.5, topP: 1 });
});

test.each([
  ['chat', {}, true],
  ['predict', {}, true],
  ['chat', { reasoning: false }, false],
] as const)('a server that thinks by default does on %s with %j: %s', (kind, body, expected) => {
  const server = { ...noDefaults, sampling: { thinking: { top_k: 1 }, plain: { top_k: 2 } }, thinks: true };
  const { prompts, sampling } = parseRequest(kind, { messages, ...body }, server, 99n);
  expect(prompts).toMatchObject([{ templateKwargs: { enable_thinking: expected } }]);
  expect(sampling.topK).toBe(expected ? 1 : 2);
});

test('a model that does not think by itself samples as without thinking', () => {
  const quiet = {
    ...noDefaults,
    sampling: { thinking: { top_k: 1 }, plain: { top_k: 2 } },
    thinksByItself: false,
  };
  expect(parseRequest('chat', { messages }, quiet, 99n).sampling.topK).toBe(2);
  expect(parseRequest('completions', { prompt: 'x' }, quiet, 99n).sampling.topK).toBe(2);
});

test.each([
  ['reasoning', { reasoning: 'true' }, true],
  ['enable_thinking', { enable_thinking: false }, false],
  ['chat_template_kwargs', { chat_template_kwargs: { enable_thinking: true } }, true],
  ['chat_template_kwargs as a text', { chat_template_kwargs: { enable_thinking: 'false' } }, false],
  ['an effort of none', { reasoning_effort: 'none' }, false],
  ['reasoning as an object', { reasoning: { enabled: true, effort: null } }, true],
  ['reasoning that is off', { reasoning: { enabled: false, exclude: true } }, false],
  ['an effort in an object', { reasoning: { effort: 'high' } }, true],
  ['an effort of none in an object', { reasoning: { effort: 'none' } }, false],
  ['a budget in an object', { reasoning: { max_tokens: 100 } }, true],
  ['a budget of nothing in an object', { reasoning: { max_tokens: 0 } }, false],
  ['thinking', { thinking: { type: 'enabled', budget_tokens: 100 } }, true],
  ['thinking that is off', { thinking: { type: 'disabled' } }, false],
  ['one of several names that agree', { thinking: { type: 'enabled' }, reasoning_effort: 'low' }, true],
])('%s is the thinking switch', (_, body, value) => {
  expect(kwargsOf('chat', body)).toMatchObject({ enable_thinking: value });
  expect(kwargsOf('predict', body)).toMatchObject({ enable_thinking: value });
});

test.each(Object.entries(efforts))('takes the effort %s', (reasoning_effort, thinks) => {
  expect(kwargsOf('chat', { reasoning_effort })).toEqual({ reasoning_effort, enable_thinking: thinks });
});

test.each([
  ['chat', { thinking: { type: 'adaptive' }, reasoning: {} }, {}],
  ['predict', { thinking: { type: 'auto' } }, { enable_thinking: false }],
  ['chat', { reasoning: { effort: 'high' } }, { reasoning_effort: 'high', enable_thinking: true }],
  [
    'chat',
    { reasoning: { effort: 'low' }, reasoning_effort: 'low' },
    { reasoning_effort: 'low', enable_thinking: true },
  ],
] as const)('on %s, %j gives the template %j', (kind, body, expected) => {
  expect(kwargsOf(kind, body)).toEqual(expected);
});

test('thinking is off on :predict and the template’s own on chat', () => {
  expect([kwargsOf('predict', {}), kwargsOf('chat', {})]).toEqual([{ enable_thinking: false }, {}]);
});

test('what a checkpoint asks for and no request may counts as not said', () => {
  const odd = {
    ...noDefaults,
    ...checkpointDefaults({ temperature: -1, top_p: 0, repetition_penalty: 0, top_k: 20 }, {}),
  };
  const { sampling } = parseRequest('chat', { messages }, odd, 99n);
  expect(sampling).toMatchObject({ temperature: 1, topP: 1, repetitionPenalty: 1, topK: 20 });
});

test('a temperature that floats cannot be divided by is greedy', () => {
  expect(chat({ temperature: 1e-39 }).sampling.temperature).toBe(0);
  expect(chat({ temperature: 1e-5 }).sampling.temperature).toBe(1e-5);
});

test('a negative seed is a seed of its own', () => {
  expect(chat({ seed: -1 }).sampling.seed).toBe(2n ** 64n - 1n);
});
