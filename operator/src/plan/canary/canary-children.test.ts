import { describe, expect, test } from '@jest/globals';
import { wantedService } from '../../resource/wanted-service.fixture.js';
import { children, templateInputs } from '../children.fixture.js';
import type { ChildInputs } from '../children.js';
import { planTemplate } from '../pods/planned-template.js';
import type { Canary, Stage } from './canary.js';

const canary = { replicas: 2, steps: [{ weight: 20 }] };
const service = wantedService({ routing: { host: 'demo.example.org' }, canary });
const template = planTemplate(service, templateInputs);
const tried = planTemplate(wantedService({ engine: { maxNumSeqs: 5 } }), templateInputs);
const stage: Stage = {
  ...{ revision: tried.revision, phase: 'step', step: 1, steps: 1, weight: 20, mirrorPercent: 5 },
  ...{ since: '2026-01-01T00:00:00Z', stableHash: 'old' },
};
const trying: Canary = { state: 'trying', stage, hash: 'new', note: 'Running', recheckMs: null };

function objects(state: Canary, change: Partial<ChildInputs> = {}) {
  const planned = children(service, { template, canary: state, canaryTemplate: tried, ...change });
  const all = [planned.deployment, ...planned.others];
  const spec = (kind: string, name: string): unknown =>
    all.find((object) => object.kind === kind && object.metadata.name === name)?.['spec'];
  return { spec, leftovers: planned.canaryLeftovers };
}

describe('while a revision is tried', () => {
  test('the stable Deployment stays, and the other has the template that this one would have', () => {
    const { spec } = objects(trying);
    expect(spec('Deployment', 'demo')).toMatchObject({ template: template.pod });
    expect(spec('Deployment', 'demo')).not.toHaveProperty('paused');
    const after = children(service, { template: tried }).deployment['spec'] as object;
    expect(spec('Deployment', 'demo-canary')).toMatchObject({
      replicas: 2,
      template: (after as { template: object }).template,
      selector: (after as { selector: object }).selector,
    });
  });

  test('each Service selects the pods of one', () => {
    const { spec } = objects(trying);
    const label = { 'llmservice.dev/service': 'demo' };
    expect(spec('Service', 'demo')).toMatchObject({ selector: { ...label, 'pod-template-hash': 'old' } });
    expect(spec('Service', 'demo-canary')).toMatchObject({
      selector: { ...label, 'pod-template-hash': 'new' },
    });
  });

  test('each rule of the route keeps the place that it has without a canary, others first', () => {
    const places = (state: Canary) => {
      const { rules } = objects(state).spec('HTTPRoute', 'demo') as { rules: { matches: object[] }[] };
      return rules.map(({ matches }) => matches);
    };
    expect(places(trying)).toEqual(places({ state: 'settled' }));
    expect(places(trying)[0]?.[0]).not.toHaveProperty('headers');
    expect(JSON.stringify(objects({ state: 'settled' }).spec('HTTPRoute', 'demo'))).not.toContain(
      'demo-canary',
    );
  });

  test('a fallback gets all requests, and the canary none', () => {
    const fallback = {
      state: 'active',
      service: 'other',
      scheme: 'http',
      answers: true,
      recheckMs: null,
    } as const;
    expect(JSON.stringify(objects(trying, { fallback }).spec('HTTPRoute', 'demo'))).not.toContain(
      'demo-canary',
    );
  });
});

test.each<[string, Canary, string]>([
  [
    'is kept while it gets requests that are under way',
    { state: 'leaving', stage, gone: false, recheckMs: 1 },
    'keep',
  ],
  ['goes then', { state: 'leaving', stage, gone: true, recheckMs: 1 }, 'remove'],
  [
    'is kept until the pause is known',
    { state: 'promoting', stage, seen: false, surplus: 0, recheckMs: 1 },
    'keep',
  ],
  ['is handed over then', { state: 'promoting', stage, seen: true, surplus: 0, recheckMs: 1 }, 'handOver'],
  ['goes where nobody wants one', { state: 'off' }, 'remove'],
])('what a canary has %s', (_, state, leftovers) => {
  expect(objects(state).leftovers).toBe(leftovers);
});

test('a Deployment that takes pods over is paused, and has room for them', () => {
  const { spec } = objects(
    { state: 'promoting', stage, seen: false, surplus: 0, recheckMs: 1 },
    { template: tried },
  );
  expect(spec('Deployment', 'demo')).toMatchObject({
    paused: true,
    strategy: { rollingUpdate: { maxSurge: 2, maxUnavailable: 0 } },
    template: tried.pod,
  });
  expect(spec('Service', 'demo')).toMatchObject({ selector: { 'llmservice.dev/service': 'demo' } });
});
