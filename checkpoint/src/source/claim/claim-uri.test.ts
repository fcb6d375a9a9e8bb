import { expect, test } from '@jest/globals';
import { claimUri, parseClaimUri } from './claim-uri.js';

test.each([
  ['pvc://models', { claim: 'models', folder: '', file: null }],
  ['pvc://models/', { claim: 'models', folder: '', file: null }],
  ['pvc://models/qwen3/fp8', { claim: 'models', folder: 'qwen3/fp8/', file: null }],
  ['pvc://team.models/qwen3//', { claim: 'team.models', folder: 'qwen3/', file: null }],
  ['pvc://models/qwen3/a.gguf', { claim: 'models', folder: 'qwen3/', file: 'a.gguf' }],
  ['pvc:///qwen3', null],
  ['pvc://Models/qwen3', null],
  ['pvc://models./qwen3', null],
  ['pvc://models/../etc', null],
  ['pvc://models/qwen3?ro', null],
  [`pvc://${'a'.repeat(254)}/m`, null],
])('%s', (uri, place) => {
  expect(parseClaimUri(uri)).toEqual(place);
});

test('is written as it is read', () => {
  expect(claimUri({ claim: 'models', folder: 'qwen3/' })).toBe('pvc://models/qwen3/');
});
