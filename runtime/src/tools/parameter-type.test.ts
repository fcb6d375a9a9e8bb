import { expect, test } from '@jest/globals';
import { parameterType } from './parameter-type.js';

test.each<[string, object, object]>([
  ['through references', { anyOf: [{ $ref: '#/$defs/A' }, { type: 'null' }] }, { A: { enum: [1] } }],
  ['behind a branch that says nothing', { oneOf: [{}, { allOf: [{ type: 'number' }] }] }, {}],
  [
    'that refers to itself',
    { $ref: '#/$defs/A' },
    { A: { anyOf: [{ $ref: '#/$defs/A' }, { type: 'integer' }] } },
  ],
])('finds the types of a schema %s', (_, x, $defs) => {
  expect(parameterType({ properties: { x }, $defs }, 'x').toJson(' 1 ')).toBe('1');
});

test('reads each schema once, however many branches refer to it', () => {
  const N = { anyOf: Array.from({ length: 6 }, () => ({ $ref: '#/$defs/N' })) };
  const startedAt = performance.now();
  const { isText } = parameterType({ properties: { x: { $ref: '#/$defs/N' } }, $defs: { N } }, 'x');
  expect(performance.now() - startedAt).toBeLessThan(1000);
  expect(isText).toBe(true);
});
