import { expect, test } from '@jest/globals';
import { wantedService } from '../spec/wanted-service.fixture.js';
import { planCourse } from './course.js';
import type { ServicePlan } from './plan-service.js';
import { readRevisions } from './rollouts/revision.js';

const plan: ServicePlan = {
  resolution: { state: 'resolved' },
  fit: { state: 'unmeasured' },
  routing: { state: 'none' },
  autoscaling: { state: 'off' },
  obstacle: null,
  fingerprint: 'print',
  groundwork: {
    image: 'runtime:1',
    pullImage: null,
    operatorImage: null,
    checkpoint: { model: null, weightBytes: 1, fileBytes: 1, fingerprint: 'print' },
  },
};

test('a stored revision is taken as it is, unless a service of the same name left it behind', () => {
  const service = wantedService();
  const { target } = planCourse(service, plan, [], null);
  const stored = readRevisions(target === null ? [] : [target.object]);
  expect(planCourse(service, plan, stored, null).target).toBe(stored[0]);

  const anew = { ...service, uid: 'uid-2' };
  const own = planCourse(anew, plan, stored, null).target;
  expect(own?.number).toBe(1);
  expect(own?.template.configMap.metadata.ownerReferences).toMatchObject([{ uid: 'uid-2' }]);
});

test('a stored revision that mounts a whole folder of the node is planned anew', () => {
  const cache = { kind: 'hostPath', path: '/var/cache/models' };
  const service = wantedService({ model: { uri: 's3://bucket/folder/', cache } });
  const withImage = { ...plan, groundwork: { ...plan.groundwork!, operatorImage: 'operator:1' } };
  const stored = planCourse(service, withImage, [], null).target!.object;
  expect(planCourse(service, withImage, readRevisions([stored]), null).target?.object).toBe(stored);
  const whole = JSON.parse(JSON.stringify(stored).replaceAll(/,"subPath":"[^"]*"/g, '')) as typeof stored;
  const { target, good } = planCourse(service, withImage, readRevisions([whole]), null);
  expect(JSON.stringify(target?.template.pod)).toContain('"subPath":"namespaces/');
  expect(good).toBeNull();
});
