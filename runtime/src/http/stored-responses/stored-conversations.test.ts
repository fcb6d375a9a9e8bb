// Conversations in a store: what is added stays, whoever adds, under ids of their own.

import { beforeEach, expect, test } from '@jest/globals';
import type { RawItem } from '../../request/fields/responses-input.js';
import { asker, smallStore, storedResponse } from './stored-response.fixture.js';
import type { StoredConversations } from './stored-conversations.js';
import type { StoredResponses } from './stored-responses.js';

const a = asker('a');
const said = (content: string, id?: string): RawItem & { id?: string } => ({
  type: 'message',
  role: 'user',
  content,
  ...(id === undefined ? {} : { id }),
});
const responseId = (digit: string): string => `resp_${digit.repeat(32)}`;

let responses: StoredResponses;
let conversations: StoredConversations;
beforeEach(() => {
  responses = smallStore();
  ({ conversations } = responses);
});

const itemsOf = async (id: string) => (await conversations.require(a, id)).items;

test('items have ids of their own, whatever their clients call them', async () => {
  const { id } = await conversations.create('a', [said('one', 'mine'), said('two', 'mine')], {});
  await conversations.add(a, id, [said('three', 'mine')]);
  const items = await itemsOf(id);
  expect(new Set(items.map((item) => item.id)).size).toBe(3);
  expect(items).toMatchObject(['one', 'two', 'three'].map((text) => ({ content: [{ text }] })));
});

test('turns of responses at the same time stay whole, under ids that are there once', async () => {
  const { id } = await conversations.create('a', [], {});
  const turn = (digit: string) => ({
    id,
    responseId: responseId(digit),
    items: [
      { ...said(`asked ${digit}`), id: 'mine' },
      { ...said(`answered ${digit}`), id: `msg_${digit.repeat(32)}-0` },
    ],
  });
  await Promise.all(['1', '2', '3'].map((digit) => responses.converse('a', turn(digit), [])));
  const items = await itemsOf(id);
  expect(items.map((item) => item.id)).toEqual([
    'mine',
    `msg_${'1'.repeat(32)}-0`,
    `msg_${'2'.repeat(32)}-in0`,
    `msg_${'2'.repeat(32)}-0`,
    `msg_${'3'.repeat(32)}-in0`,
    `msg_${'3'.repeat(32)}-0`,
  ]);
  await responses.converse('a', turn('2'), []);
  expect(await itemsOf(id)).toEqual(items);
});

test('clients add at most as many items as a request may have', async () => {
  const { id } = await conversations.create('a', [said('x')], {});
  const adding = conversations.append(a, id, responseId('1'), [said('y'), said('z')], 2);
  await expect(adding).rejects.toMatchObject({ code: 'invalid_request', param: 'items' });
  expect(await itemsOf(id)).toHaveLength(1);
});

test('what has no room is refused, and the conversation stays as it was', async () => {
  const huge = said('x'.repeat(200_000));
  await expect(conversations.create('a', [huge], {})).rejects.toMatchObject({ code: 'request_too_large' });
  const { id } = await conversations.create('a', [said('x')], {});
  await expect(conversations.add(a, id, [huge])).rejects.toMatchObject({ code: 'request_too_large' });
  expect(await itemsOf(id)).toHaveLength(1);
});

test('a response is no conversation, and a conversation is no response', async () => {
  await responses.put('a', storedResponse('resp_1'));
  const { id } = await conversations.create('a', [], {});
  for (const asked of [
    conversations.require(a, 'resp_1'),
    conversations.add(a, 'resp_1', [said('x')]),
    conversations.delete(a, 'resp_1'),
  ])
    await expect(asked).rejects.toMatchObject({ code: 'conversation_not_found' });
  await expect(responses.require(a, id)).rejects.toMatchObject({ code: 'response_not_found' });
  await expect(responses.delete(a, id)).rejects.toMatchObject({ code: 'response_not_found' });
  expect((await responses.require(a, 'resp_1')).response.id).toBe('resp_1');
});
