import { expect, test } from '@jest/globals';
import { configuredKey, sha256 } from './configured-key.fixture.js';
import { KeySet } from './key-set.js';

const set = new KeySet([
  configuredKey('a'),
  configuredKey('b', { hashes: [sha256('old'), sha256('new')] }),
  configuredKey('ü', { hashes: [sha256('clé')] }),
]);

test.each([
  ['secret-a', 'a'],
  ['old', 'b'],
  ['new', 'b'],
  ['clé', 'ü'],
  ['secret-A', undefined],
  ['secret-a\n', undefined],
  ['', undefined],
  [sha256('secret-a'), undefined],
])('%j is the key %s', (presented, id) => {
  expect(set.find(presented)?.id).toBe(id);
});
