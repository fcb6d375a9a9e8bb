import { expect, test } from '@jest/globals';
import { revisionAnnotation } from '../plan/pod-template.js';
import type { Deployment } from '../kube/types.js';
import { describeDisruption, disruptionOf } from './disruption.js';

const planned = (replicas: number, maxSurge: number) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'demo' },
  spec: { replicas, strategy: { rollingUpdate: { maxSurge } } },
});

const live = (replicas: number, revision: string): Deployment => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'demo' },
  spec: { replicas, template: { metadata: { annotations: { [revisionAnnotation]: revision } } } },
});

test.each([
  ['nobody was asked', 1, undefined, { kind: 'unknown', onChange: 'surge' }],
  ['nobody was asked, and there are devices', 0, undefined, { kind: 'unknown', onChange: 'drain' }],
  ['there is none', 1, null, { kind: 'create' }],
  ['the same pods', 0, live(1, 'now'), { kind: 'nothing' }],
  ['the same pods, more or fewer', 0, live(3, 'now'), { kind: 'scale', from: 3, to: 1 }],
  ['other pods, with room for one more', 1, live(1, 'before'), { kind: 'surge' }],
  ['other pods on scarce devices', 0, live(1, 'before'), { kind: 'drain' }],
  ['other pods, of which none runs', 0, live(0, 'before'), { kind: 'scale', from: 0, to: 1 }],
] as const)('%s', (_name, maxSurge, deployment, expected) => {
  const found = disruptionOf(planned(1, maxSurge), 'now', deployment);
  expect(found).toEqual(expected);
  expect(describeDisruption(found).length).toBeGreaterThan(10);
});
