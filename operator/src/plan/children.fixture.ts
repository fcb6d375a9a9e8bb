// The objects that are planned for a service whose checkpoint is known, and what their pods are made of.

import { wantedService } from '../resource/wanted-service.fixture.js';
import type { WantedService } from '../domain/wanted-service.js';
import { planChildren, type ChildInputs, type PlannedChildren } from './children.js';
import { planTemplate, type TemplateInputs } from './pods/planned-template.js';

export const templateInputs: TemplateInputs = {
  image: 'runtime:1',
  pullImage: null,
  operatorImage: null,
  size: { fileBytes: 29e9, weightBytes: 29e9 },
  memoryPlan: null,
  pins: null,
};

export function children(service: WantedService, change: Partial<ChildInputs> = {}): PlannedChildren {
  return planChildren(service, {
    template: planTemplate(service, templateInputs),
    adapters: [],
    replicas: 1,
    replacement: 'surge',
    failedAttempt: null,
    goodRevision: null,
    asleep: null,
    activators: null,
    autoscaler: null,
    gateway: { name: 'public', namespace: 'gateways', provider: 'gatewayApi' },
    fallback: { state: 'none' },
    canary: { state: 'off' },
    pool: { state: 'none' },
    canaryTemplate: null,
    operatorNamespace: 'llmservice-system',
    ...change,
  });
}

export function podSpec(spec: object) {
  const { deployment } = children(wantedService(spec));
  return (deployment as never as { spec: { template: { spec: Record<string, never> } } }).spec.template.spec;
}

export function container(spec: object) {
  const [first] = podSpec(spec)['containers'] as never as [Record<string, unknown>];
  return first;
}
