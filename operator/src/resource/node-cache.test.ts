import { expect, test } from '@jest/globals';
import { specDefaults, type Violation } from '@llmservice/crds';
import { parseNodeCache } from './node-cache.js';
import type { NodeCache } from '../domain/wanted-service.js';

type Given = Partial<Parameters<typeof parseNodeCache>[0]>;

function parse(given: Given): { cache: NodeCache | null; violations: Violation[] } {
  const violations: Violation[] = [];
  const cache = parseNodeCache({ ...specDefaults.model.cache, ...given }, violations);
  return { cache, violations };
}

test('nothing is shared unless that is asked for', () => {
  expect(parse({})).toEqual({ cache: null, violations: [] });
});

test('a folder and a claim are taken, with what bounds them', () => {
  expect(parse({ kind: 'hostPath', path: '/var/cache', maxSize: '1Gi' })).toEqual({
    cache: { kind: 'hostPath', path: '/var/cache', maxBytes: 2 ** 30, verify: 'onPull', prePull: false },
    violations: [],
  });
  expect(parse({ kind: 'pvc', claimName: 'w', prePull: true }).cache).toEqual({
    ...{ kind: 'pvc', claimName: 'w', maxBytes: null, verify: 'onPull', prePull: true },
  });
});

test('a size that is none is refused', () => {
  const { violations } = parse({ kind: 'pvc', claimName: 'w', maxSize: 'much' });
  expect(violations.map(({ path }) => path)).toEqual(['spec.model.cache.maxSize']);
});
