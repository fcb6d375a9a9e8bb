import { expect, test } from '@jest/globals';
import { noDefaults } from '../fields/generation-defaults.fixture.js';
import { checkpointDefaults } from '../fields/generation-defaults.js';
import { parseMessages } from './parse-messages.js';

const defaults = {
  ...noDefaults,
  ...checkpointDefaults({ eos_token_id: 7 }, {}),
};
const body = { model: 'tiny', max_tokens: 5, messages: [{ role: 'user', content: 'x' }] };
const kwargsOf = (more: object): unknown => {
  const [prompt] = parseMessages({ ...body, ...more }, defaults, 1n).parsed.prompts;
  return prompt?.kind === 'messages' ? prompt.templateKwargs : null;
};

test.each([
  [{}, { enable_thinking: false }],
  [{ output_config: { effort: 'low' } }, { enable_thinking: false, reasoning_effort: 'low' }],
  [{ output_config: { effort: 'max' }, thinking: { type: 'adaptive' } }, { reasoning_effort: 'max' }],
])('%j: effort is for the chat template, thinking for itself', (more, kwargs) => {
  expect(kwargsOf(more)).toEqual(kwargs);
});

const conversationOf = (content: object[]): unknown => {
  const messages = [{ role: 'user', content }];
  const [prompt] = parseMessages({ ...body, messages }, defaults, 1n).parsed.prompts;
  return prompt?.kind === 'messages' ? prompt.messages : null;
};

const source = { type: 'text', media_type: 'text/plain', data: 'Paris.' };
const document = { type: 'document', source, title: 'Capitals', context: null };

test('a document of plain text is read as text, also as a result of a tool', () => {
  const question = { type: 'text', text: 'Where?' };
  const citations = { enabled: false };
  expect(conversationOf([{ ...document, citations }, question])).toMatchObject([
    { role: 'user', content: '\n\nCapitals\nParis.\n\nWhere?' },
  ]);
  expect(conversationOf([{ type: 'tool_result', tool_use_id: 'a', content: [document] }])).toMatchObject([
    { role: 'tool', content: '\n\nCapitals\nParis.\n\n' },
  ]);
});

test.each<[object, string]>([
  [{ ...document, source: { type: 'base64', data: '' } }, 'messages.0.content.0 is a document'],
  [{ type: 'document', source: { type: 'text' } }, 'messages.0.content.0.source.data is required'],
  [{ ...document, citations: { enabled: true } }, 'messages.0.content.0.citations.enabled must be false'],
])('refuses %j', (block, message) => {
  expect(() => conversationOf([block])).toThrow(message);
});

test('only users send documents', () => {
  const messages = [{ role: 'assistant', content: [document] }];
  expect(() => parseMessages({ ...body, messages }, defaults, 1n)).toThrow(
    'messages.0.content.0: a message of the assistant has no document block',
  );
});
