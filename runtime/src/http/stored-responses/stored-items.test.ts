import { expect, test } from '@jest/globals';
import type { RawItem } from '../../request/fields/responses-input.js';
import { responseOf, storedItems } from './stored-items.js';

const hex = '0'.repeat(32);
const message = (id?: string): RawItem => ({
  type: 'message',
  role: 'user',
  content: 'x',
  ...(id === undefined ? {} : { id }),
});

test('each item has an id of its own, by which clients page through them', () => {
  const items = storedItems(
    [message('a'), message(), message('a'), message('x'.repeat(129)), message('')],
    `resp_${hex}`,
  );
  const made = [1, 2, 3, 4].map((index) => `msg_${hex}-in${String(index)}`);
  expect(items.map(({ id }) => id)).toEqual(['a', ...made]);
});

test.each([
  [`msg_${hex}-0`, `resp_${hex}`],
  [`fc_${hex}-in12`, `resp_${hex}`],
  ['msg_1', null],
  [`msg_${hex.slice(1)}-0`, null],
  [`../${hex}-0`, null],
])('the item %s is one of %s', (id, response) => {
  expect(responseOf(id)).toBe(response);
});
