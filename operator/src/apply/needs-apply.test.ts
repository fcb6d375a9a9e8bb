import { describe, expect, test } from '@jest/globals';
import type { KubeObject } from '../kube/types.js';
import { covers, differences, marked, needsApply } from './needs-apply.js';

const desired: KubeObject = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'x', namespace: 'n', labels: { a: '1' } },
  spec: { replicas: 1, containers: [{ name: 'runtime', resources: { limits: { cpu: '1000m' } }, env: [] }] },
};

describe('needsApply', () => {
  test('an absent object is applied, one as applied is not', () => {
    expect(needsApply(desired, null)).toBe(true);
    expect(needsApply(desired, marked(desired))).toBe(false);
  });

  test('foreign fields, list entries and defaults do not matter', () => {
    const live = structuredClone(marked(desired)) as never as {
      metadata: { labels: Record<string, string> };
      spec: { containers: { name: string; image?: string }[]; revision?: number };
    };
    live.metadata.labels['b'] = '2';
    live.spec.revision = 7;
    live.spec.containers.unshift({ name: 'sidecar', image: 'x' });
    expect(needsApply(desired, live as never)).toBe(false);
  });

  test('a field that was changed is taken back', () => {
    const live = { ...marked(desired), spec: { ...(desired['spec'] as object), replicas: 5 } };
    expect(needsApply(desired, live)).toBe(true);
  });

  test('a field that is no longer wanted is noticed, though the rest still holds', () => {
    const live = marked({ ...desired, spec: { ...(desired['spec'] as object), paused: true } });
    expect(needsApply(desired, live)).toBe(true);
  });
});

describe('covers', () => {
  test.each<[string, unknown, unknown, boolean]>([
    ['quantities of one value', '1000m', '1', true],
    ['a number and its quantity', 4, '4', true],
    ['other quantities', '1000m', '2', false],
    ['nothing and what equals nothing', { emptyDir: {} }, {}, true],
    ['lists of another length', ['a'], ['a', 'b'], false],
    ['lists in another order', ['a', 'b'], ['b', 'a'], false],
    ['strings', 'a', 'b', false],
    ['an object and a string', { a: 1 }, 'a', false],
  ])('%s', (_name, wanted, live, covered) => {
    expect(covers(wanted, live)).toBe(covered);
  });
});

test('differences name the field as a person writes it, and list entries by name', () => {
  const wanted = {
    spec: {
      replicas: 2,
      containers: [{ name: 'runtime', image: 'new' }, { name: 'more' }],
      args: ['a', 'b'],
    },
  };
  const live = { spec: { replicas: 2, containers: [{ name: 'runtime', image: 'old' }], args: ['a', 'c'] } };
  expect(differences(wanted, live)).toEqual([
    { path: 'spec.containers[runtime].image', live: 'old', desired: 'new' },
    { path: 'spec.containers[more]', live: undefined, desired: { name: 'more' } },
    { path: 'spec.args[1]', live: 'c', desired: 'b' },
  ]);
});
