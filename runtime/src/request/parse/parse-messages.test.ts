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
