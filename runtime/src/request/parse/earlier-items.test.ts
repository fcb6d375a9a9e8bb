import { expect, test } from '@jest/globals';
import { noDefaults } from '../fields/generation-defaults.fixture.js';
import type { RawItem } from '../fields/responses-input.js';
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

test('of many references that find nothing, the first are named', () => {
  const input = Array.from({ length: 400_000 }, () => ({ type: 'item_reference', id: 'msg_1' }));
  const earlier = { conversation: [], referenced: nothing };
  expect(() => parseResponses({ input }, noDefaults, 0n, earlier)).toThrow(
    expect.objectContaining({ param: 'input.0', message: expect.stringMatching(/^.{0,4000}$/s) }),
  );
});
