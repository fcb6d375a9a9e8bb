import { expect, test } from '@jest/globals';
import { noDefaults } from '../fields/generation-defaults.fixture.js';
import type { RawItem } from '../fields/responses-input.js';
import { earlierNames } from './earlier-items.js';
import { parseResponses } from './parse-responses.js';

const said = (content: string): RawItem => ({ type: 'message', role: 'user', content });
const nothing = new Map<string, RawItem>();

test('a conversation by ids has as many items as one that is sent', () => {
  const earlier = (count: number) => ({
    conversation: Array.from({ length: count }, () => said('x')),
    referenced: nothing,
  });
  const body = { input: [said('y')], previous_response_id: 'resp_1' };
  expect(parseResponses(body, noDefaults, 0n, earlier(9_999)).items).toHaveLength(10_000);
  expect(() => parseResponses(body, noDefaults, 0n, earlier(10_000))).toThrow(
    expect.objectContaining({ code: 'invalid_request', param: 'previous_response_id' }),
  );
});

test('a stored conversation is bounded alike, and is not continued beside a response', () => {
  const earlier = { conversation: Array.from({ length: 10_000 }, () => said('x')), referenced: nothing };
  const conversation = { id: 'conv_1' };
  expect(() => parseResponses({ input: 'y', conversation }, noDefaults, 0n, earlier)).toThrow(
    expect.objectContaining({ code: 'invalid_request', param: 'conversation' }),
  );
  const both = { input: 'y', conversation, previous_response_id: 'resp_1' };
  expect(earlierNames(both).continued).toBeNull();
  expect(() => parseResponses(both, noDefaults, 0n, { conversation: [], referenced: nothing })).toThrow(
    expect.objectContaining({ param: 'previous_response_id', message: expect.stringContaining('exclude') }),
  );
});

test.each([
  [{ conversation: 'conv_1' }, { kind: 'conversation', id: 'conv_1' }],
  [
    { conversation: { id: 'conv_1' }, previous_response_id: null },
    { kind: 'conversation', id: 'conv_1' },
  ],
  [
    { previous_response_id: 'resp_1', conversation: null },
    { kind: 'response', id: 'resp_1' },
  ],
  [{ conversation: { id: 7 } }, null],
  [{ conversation: 'x'.repeat(257) }, null],
  [{ conversation: [] }, null],
])('%j continues %j', (body, continued) => {
  expect(earlierNames(body).continued).toEqual(continued);
});

test('of many references that find nothing, the first are named', () => {
  const input = Array.from({ length: 400_000 }, () => ({ type: 'item_reference', id: 'msg_1' }));
  const earlier = { conversation: [], referenced: nothing };
  expect(() => parseResponses({ input }, noDefaults, 0n, earlier)).toThrow(
    expect.objectContaining({ param: 'input.0', message: expect.stringMatching(/^.{0,4000}$/s) }),
  );
});
