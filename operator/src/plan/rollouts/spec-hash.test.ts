import { describe, expect, test } from '@jest/globals';
import { annotations, specDefaults } from '@llmservice/crds';
import { wantedService } from '../../resource/wanted-service.fixture.js';
import { children } from '../children.fixture.js';
import { planAttempt, specHash } from './spec-hash.js';

describe('a failureHold service', () => {
  test('remembers on its Deployment what failed', () => {
    const { deployment } = children(wantedService(), { replicas: 0, failedAttempt: 'abc' });
    expect(deployment.metadata.annotations).toMatchObject({ [annotations.failedAttempt]: 'abc' });
    expect(deployment).toMatchObject({ spec: { replicas: 0 } });
  });

  test('is tried again for another spec, checkpoint or retry annotation, but not for another scale', () => {
    const attempt = planAttempt(wantedService(), 'print');
    expect(planAttempt(wantedService({ replicas: 2 }), 'print')).toBe(attempt);
    expect(planAttempt(wantedService({ scaling: { maxReplicas: 3 } }), 'print')).toBe(attempt);
    expect(planAttempt(wantedService({ budget: { deviceHoursPerMonth: 9 } }), 'print')).toBe(attempt);
    expect(planAttempt(wantedService({ engine: { maxModelLen: 9 } }), 'print')).not.toBe(attempt);
    expect(planAttempt(wantedService(), 'other')).not.toBe(attempt);
    expect(planAttempt(wantedService({}, { 'llmservice.dev/retry': '1' }), 'print')).not.toBe(attempt);
  });

  test('is the same attempt for other prefill pods, but not where decode pods do otherwise', () => {
    const of = (disaggregation?: object): string =>
      planAttempt(wantedService(disaggregation && { disaggregation }), 'print');
    const resources = { limits: { memory: '1Gi' } };
    expect(of({ prefill: { replicas: 3, resources } })).toBe(of({}));
    expect(of({})).not.toBe(of());
    expect(of({ minPromptTokens: 9 })).not.toBe(of({}));
  });

  test('is the same attempt for another list of adapters, but not for another room', () => {
    const of = (names: readonly string[], engine: object = {}): string => {
      const adapters = names.map((name) => ({ name, uri: `s3://b/${name}/` }));
      return planAttempt(wantedService({ adapters, engine }), 'print');
    };
    expect(of(['a', 'b'], { maxAdapters: 4 })).toBe(of(['c'], { maxAdapters: 4 }));
    expect(of(['a', 'b'])).toBe(of(['c'], { maxAdapters: 2 }));
    expect(of(['a', 'b'])).not.toBe(of(['c']));
    expect(of([])).toBe(planAttempt(wantedService(), 'print'));
  });

  test('is the same attempt for a field that says its default, as a newer CRD fills it in', () => {
    const { spec, adapterRoom } = wantedService();
    expect(spec.engine).toMatchObject(specDefaults.engine);
    const without = { ...spec, engine: {}, tls: undefined, accounting: undefined } as never;
    expect(specHash({ spec: without, adapterRoom })).toBe(specHash({ spec, adapterRoom }));
    expect(specHash({ spec: { ...spec, env: [] }, adapterRoom })).not.toBe(specHash({ spec, adapterRoom }));
  });
});
