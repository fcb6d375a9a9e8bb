import { expect, test } from '@jest/globals';
import { cacheSaltOf } from './cache-salt.js';
import { configuredKey } from '../../../crds/src/keys/configured-key.fixture.js';

const a = configuredKey('a');
const inGroup = (id: string, cacheGroup: string) => configuredKey(id, { cacheGroup });

test('is that of the key, or of its group, and of the client', () => {
  const salts = [
    cacheSaltOf(a, null),
    cacheSaltOf(configuredKey('b'), null),
    cacheSaltOf(a, 'own'),
    cacheSaltOf(inGroup('a', 'g'), null),
    cacheSaltOf(inGroup('a', 'g'), 'own'),
    // A key that is named like a group, and salts that look like another tenant's.
    cacheSaltOf(inGroup('b', 'a'), null),
    cacheSaltOf(a, 'key b'),
    cacheSaltOf(configuredKey('a.own'), null),
  ];
  expect(new Set(salts).size).toBe(salts.length);
});

test('is one for all keys of a group', () => {
  expect(cacheSaltOf(inGroup('a', 'g'), 'own')).toBe(cacheSaltOf(inGroup('b', 'g'), 'own'));
});
