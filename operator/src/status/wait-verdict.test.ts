import { describe, expect, it } from '@jest/globals';
import { validateLlmService, type Condition, type LlmService } from '@llmservice/crds';
import { waitVerdict } from './wait-verdict.js';

const condition = (type: string, status: Condition['status'], extra: Partial<Condition> = {}): Condition => ({
  type,
  status,
  reason: 'Because',
  message: 'as it is.',
  observedGeneration: 2,
  lastTransitionTime: '2026-01-01T00:00:00Z',
  ...extra,
});

const unknown = (type: string, reason: string) => condition(type, 'Unknown', { reason });
const notReady = (reason: string) => condition('Ready', 'False', { reason });

function service(conditions: Condition[], lastFailure?: NonNullable<LlmService['status']>['lastFailure']) {
  const result = validateLlmService({
    apiVersion: 'llmservice.dev/v1alpha1',
    kind: 'LlmService',
    metadata: { name: 'tiny', generation: 2 },
    spec: { model: { uri: 's3://bucket/tiny/' } },
    status: { conditions, ...(lastFailure === undefined ? {} : { lastFailure }) },
  });
  if (!result.ok) throw new Error(JSON.stringify(result.violations));
  return result.value;
}

describe('waitVerdict', () => {
  it('is accepted once the model is known and fits, though it does not serve yet', () => {
    const known = service([
      condition('ModelResolved', 'True'),
      condition('Fits', 'True'),
      condition('Ready', 'False'),
    ]);
    expect(waitVerdict(known, 'accepted').kind).toBe('reached');
    expect(waitVerdict(known, 'serving')).toEqual({
      kind: 'waiting',
      message: 'Ready=False, Because: as it is.',
    });
  });

  it('serves once Ready is true', () => {
    expect(waitVerdict(service([condition('Ready', 'True')]), 'serving').kind).toBe('reached');
  });

  const known = condition('ModelResolved', 'True');
  it.each<[string, Parameters<typeof waitVerdict>[1], Condition[], string]>([
    ['accepts what is not measured', 'accepted', [known, unknown('Fits', 'MemoryUnknown')], 'reached'],
    ['accepts what is not estimated', 'accepted', [known, unknown('Fits', 'NotEstimated')], 'reached'],
    ['waits for a model that is being read', 'accepted', [unknown('ModelResolved', 'Reading')], 'waiting'],
    ['waits for an unknown model', 'accepted', [known, unknown('Fits', 'ModelNotResolved')], 'waiting'],
    [
      'does not accept what was unknown before',
      'accepted',
      [known, { ...unknown('Fits', 'MemoryUnknown'), observedGeneration: 1 }],
      'waiting',
    ],
    ['is done where the service is stopped', 'serving', [notReady('Stopped')], 'reached'],
    ['is done where no replicas are wanted', 'serving', [notReady('ScaledToZero')], 'reached'],
    ['is done where the budget is spent', 'serving', [notReady('OverBudget')], 'reached'],
    [
      'waits where it was stopped before',
      'serving',
      [{ ...notReady('Stopped'), observedGeneration: 1 }],
      'waiting',
    ],
    ['waits while it loads', 'serving', [notReady('Loading')], 'waiting'],
  ])('%s', (_, goal, conditions, kind) => {
    expect(waitVerdict(service(conditions), goal).kind).toBe(kind);
  });

  it('reports what it did without', () => {
    const { message } = waitVerdict(service([known, unknown('Fits', 'MemoryUnknown')]), 'accepted');
    expect(message).toBe('ModelResolved: yes; Fits=Unknown, MemoryUnknown: as it is.');
  });

  it('does not take conditions of an earlier generation for an answer', () => {
    const before = { observedGeneration: 1 };
    const old = service([
      condition('ModelResolved', 'True', before),
      condition('Fits', 'True', before),
      condition('Ready', 'True', before),
      condition('Stalled', 'True', before),
    ]);
    expect(waitVerdict(old, 'accepted').kind).toBe('waiting');
    expect(waitVerdict(old, 'serving').kind).toBe('waiting');
  });

  it.each(['accepted', 'serving'] as const)(
    'fails at once on a terminal failure when %s is waited for',
    (goal) => {
      const stalled = condition('Stalled', 'True', { reason: 'UnsupportedArchitecture' });
      const failed = service([condition('ModelResolved', 'False'), stalled], {
        reason: 'UnsupportedArchitecture',
        message: 'model_type bert is not supported.',
        remedy: 'Use qwen3.',
        terminal: true,
        at: '2026-01-01T00:00:00Z',
      });
      expect(waitVerdict(failed, goal)).toEqual({
        kind: 'failed',
        message: 'UnsupportedArchitecture: model_type bert is not supported. Use qwen3.',
      });
    },
  );

  it('keeps waiting for what may pass by itself', () => {
    const unreachable = condition('ModelResolved', 'Unknown', { reason: 'S3Unavailable' });
    const verdict = waitVerdict(service([unreachable, condition('Stalled', 'False')]), 'accepted');
    expect(verdict.kind).toBe('waiting');
    expect(verdict.message).toContain('S3Unavailable');
  });

  it('waits for an operator that has not looked yet, and for an object that is not there', () => {
    expect(waitVerdict(service([]), 'accepted').message).toContain('is the operator running?');
    expect(waitVerdict(null, 'serving').kind).toBe('waiting');
  });
});
