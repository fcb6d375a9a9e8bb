import { describe, expect, test } from '@jest/globals';
import type { Pod } from '../kube/types.js';
import { base, pod } from './observed.fixture.js';
import { isSettled } from './plan-pods.js';

const ready = pod('demo-1', { ready: true });
const inPhase = (phase: string): Pod => ({ ...pod('demo-2'), status: { phase, reason: 'Evicted' } });

describe('a service is settled', () => {
  test.each<[string, Pod[], boolean]>([
    ['by its pods', [ready], true],
    ['not while one goes', [ready, pod('demo-2', { ready: true, deleted: true })], false],
    ['not while one of another revision is left', [ready, pod('demo-2', { revision: 'old' })], false],
    ['not before one is ready', [pod('demo-1')], false],
    ['though one was evicted', [ready, inPhase('Failed')], true],
    ['though one is done', [ready, inPhase('Succeeded')], true],
    ['not by an evicted one alone', [inPhase('Failed')], false],
  ])('%s', (_, pods, settled) => {
    expect(isSettled({ ...base, pods })).toBe(settled);
  });
});
