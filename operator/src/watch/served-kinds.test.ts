import { expect, test } from '@jest/globals';
import { createLogger } from 'winston';
import { resources } from '../kube/resources.js';
import type { Served } from './reflector.js';
import { ServedKinds } from './served-kinds.js';

const { virtualServices, destinationRules, deployments } = resources;

function kindsOf(namespaces: readonly string[] | null) {
  let changes = 0;
  const kinds = new ServedKinds(namespaces, createLogger({ silent: true }), () => (changes += 1));
  const optional = (resource: typeof virtualServices | typeof destinationRules, served: Served) =>
    kinds.optional(resource).onServed?.(served, null);
  return { kinds, optional, changes: () => changes };
}

test('istio is served when both of its kinds are, and forbidden ones are named', () => {
  const { kinds, optional, changes } = kindsOf(null);
  expect(kinds.istio).toBe(false);
  optional(virtualServices, 'served');
  expect(kinds.istio).toBe(false);
  optional(destinationRules, 'served');
  expect(kinds.istio).toBe(true);
  optional(virtualServices, 'forbidden');
  optional(destinationRules, 'absent');
  expect(kinds.istio).toBe(false);
  expect(kinds.forbidden).toEqual(['virtualservices']);
  expect(kinds.unserved()).toEqual([
    { resource: 'virtualservices', namespace: null, why: 'forbidden' },
    { resource: 'destinationrules', namespace: null, why: 'absent' },
  ]);
  expect(changes()).toBe(4);
});

test.each([[null], [['a']]])('in the only scope (%j) nothing works without what is needed', (namespaces) => {
  const { kinds } = kindsOf(namespaces);
  expect(kinds.necessary(deployments)).toEqual({});
  expect(kinds.isWhole('a')).toBe(true);
  expect(kinds.isBlind).toBe(false);
});

test('of several namespaces one that is closed is not whole; all that are closed leave nothing to do', () => {
  const { kinds } = kindsOf(['a', 'b']);
  const { onServed } = kinds.necessary(deployments);
  onServed?.('served', 'a');
  onServed?.('forbidden', 'b');
  expect([kinds.isWhole('a'), kinds.isWhole('b'), kinds.isBlind]).toEqual([true, false, false]);
  onServed?.('absent', 'a');
  expect(kinds.isBlind).toBe(true);
  expect(kinds.forbidden).toEqual([]);
});
