import { describe, expect, test } from '@jest/globals';
import { formatTerminationMessage, type FailureReason } from '@llmservice/crds';
import { buildStatus } from './build-status.js';
import { base, ended, pod, verdict } from './observed.fixture.js';
import type { Observed } from './observed.js';

const onClaim: Partial<Observed> = {
  resolution: { state: 'byPods', found: 'The claim models (ReadOnlyMany) is bound' },
  fit: { state: 'byPods' },
};
const failing = (reason: FailureReason): Partial<Observed> => ({
  ...onClaim,
  pods: [pod('a', ended(1, formatTerminationMessage({ reason, message: 'so it is' })))],
});
const load = { bytesDone: 1, bytesTotal: 2, bytesPerSecond: null, etaSeconds: null, warmup: null };

describe('a checkpoint on a claim', () => {
  test.each<[string, Partial<Observed>, string, string]>([
    ['before any pod', {}, 'ModelResolved', 'Unknown JudgedByPods'],
    ['before any pod', {}, 'Fits', 'Unknown JudgedByPods'],
    ['where a pod starts', { pods: [pod('a')] }, 'Ready', 'False Starting'],
    [
      'where a pod loads',
      { pods: [pod('a')], loads: new Map([['a', { ...load, phase: 'load' }]]) },
      'ModelResolved',
      'True ResolvedByPods',
    ],
    ['where a pod serves', { pods: [pod('a', { ready: true })] }, 'ModelResolved', 'True ResolvedByPods'],
    ['where a pod serves', { pods: [pod('a', { ready: true })] }, 'Fits', 'True FitsByPods'],
    ['where a pod serves', { pods: [pod('a', { ready: true })] }, 'Ready', 'True Serving'],
    [
      'where another revision serves',
      { pods: [pod('a', { ready: true, revision: 'old' })] },
      'ModelResolved',
      'Unknown JudgedByPods',
    ],
    ['without the folder', failing('ModelNotFound'), 'ModelResolved', 'False ModelNotFound'],
    ['without the folder', failing('ModelNotFound'), 'Fits', 'Unknown JudgedByPods'],
    ['that is cut short', failing('CheckpointCorrupt'), 'Ready', 'False CheckpointCorrupt'],
    ['that is too large', failing('ModelTooLarge'), 'Fits', 'False ModelTooLarge'],
    ['that is too large', failing('ModelTooLarge'), 'ModelResolved', 'Unknown JudgedByPods'],
    ['whose engine faults', failing('EngineFault'), 'ModelResolved', 'Unknown JudgedByPods'],
  ])('%s', (_, change, type, expected) => {
    expect(verdict({ ...onClaim, ...change }, type)).toBe(expected);
  });

  test('that pods have read stays so while none is wanted, until the next generation', () => {
    const before = buildStatus({ ...base, ...onClaim, pods: [pod('a', { ready: true })] });
    const asleep = { ...onClaim, previous: before, wantedReplicas: 0 };
    expect(verdict(asleep, 'ModelResolved')).toBe('True ResolvedByPods');
    expect(verdict({ ...asleep, generation: 3 }, 'ModelResolved')).toBe('Unknown JudgedByPods');
  });

  test('says with its failure what has another pod look', () => {
    const { conditions } = buildStatus({ ...base, ...failing('ModelNotFound') });
    const resolved = conditions?.find(({ type }) => type === 'ModelResolved');
    expect(resolved?.message).toMatch(/^so it is\. Check the place .*llmservice\.dev\/retry/);
  });
});
