import { expect, test } from '@jest/globals';
import type { WantedService } from '../domain/wanted-service.js';
import type { Deployment } from '../kube/types.js';
import type { RevisionPlan } from '../plan/revision-plan.js';
import type { Observed } from '../status/observed.js';
import { CanaryController } from './canary-controller.js';

const service = {
  ...{ namespace: 'models', name: 'demo', uid: 'demo-uid', promote: '', spec: {} },
} as unknown as WantedService;
const observed = {
  ...{ previous: {}, pods: [], wantedReplicas: 1, routing: { state: 'none' }, fallback: { state: 'none' } },
  now: '2026-01-01T00:00:00Z',
} as unknown as Observed;
const revisions: RevisionPlan = { target: null, good: null, standing: 'good' } as unknown as RevisionPlan;

function stateBeside(uid: string): string {
  const owner = {
    apiVersion: 'llmservice.dev/v1alpha1',
    kind: 'LlmService',
    name: 'x',
    uid,
    controller: true,
  };
  const found = { metadata: { name: 'demo-canary', ownerReferences: [owner] } } as unknown as Deployment;
  const controller = new CanaryController({ deployment: () => found }, { of: () => ({}) as never });
  return controller.plan(service, revisions, observed, null, false).state;
}

test('the Deployment of a service with the name of a canary is none', () => {
  expect(stateBeside('of-another')).toBe('off');
  expect(stateBeside('demo-uid')).toBe('leaving');
});
