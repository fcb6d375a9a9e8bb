import { expect, test } from '@jest/globals';
import type { LlmServiceStatus } from '@llmservice/crds';
import type { Installation } from '../plan/plan-service.js';
import { noLimits } from '../plan/tenant-limits.js';
import type { KubeObject } from '../kube/types.js';
import type { ServedKinds } from '../watch/served-kinds.js';
import { Capabilities } from './capabilities.js';

const named = (namespace: string, creationTimestamp: string, status: LlmServiceStatus = {}): KubeObject => ({
  apiVersion: 'llmservice.dev/v1alpha1',
  kind: 'LlmService',
  metadata: { name: 'demo', namespace, creationTimestamp },
  spec: { routing: { host: 'chat.example.org' } },
  status,
});
const own = named('own', '2026-01-02T00:00:00Z');

function isTakenBy(other: KubeObject): boolean {
  const caches = {
    ...{ kinds: {} as ServedKinds, latest: (object: KubeObject) => object },
    servicesAt: () => [other, own],
  };
  const installation = { limits: noLimits } as unknown as Installation;
  return new Capabilities(installation, caches, { served: false }, () => []).of(own, { state: 'none' })
    .hostTaken;
}

test('a host is not kept from others by a service that its class refuses, unless it has it', () => {
  const lastTransitionTime = '2026-01-01T00:00:00Z';
  const refused = {
    type: 'ClassResolved',
    status: 'False',
    reason: 'OutOfBounds',
    message: '',
    lastTransitionTime,
  } as const;
  expect(isTakenBy(named('other', '2026-01-01T00:00:00Z'))).toBe(true);
  expect(isTakenBy(named('other', '2026-01-01T00:00:00Z', { conditions: [refused] }))).toBe(false);
  const url = 'http://chat.example.org/';
  expect(isTakenBy(named('other', '2026-01-01T00:00:00Z', { conditions: [refused], url }))).toBe(true);
});
