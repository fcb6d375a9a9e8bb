import { expect, test } from '@jest/globals';
import { presentedKey } from './presented-key.js';

test.each([
  [{ authorization: 'Bearer a' }, 'a'],
  [{ authorization: 'bearer   a ' }, 'a'],
  [{ 'x-api-key': 'b' }, 'b'],
  [{ authorization: 'Bearer a', 'x-api-key': 'b' }, 'a'],
  [{ authorization: 'Basic a', 'x-api-key': 'b' }, 'b'],
  [{ authorization: 'Bearer a b' }, null],
  [{}, null],
])('of %j the key is %j', (headers, key) => {
  expect(presentedKey(headers)).toBe(key);
});
