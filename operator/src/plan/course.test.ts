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
    checkpoint: { model: null, weightBytes: 1, fileBytes: 1, fingerprint: 'print' },
  },
};

test('a stored revision is taken as it is, unless a service of the same name left it behind', () => {
  const service = wantedService();
  const { target } = planCourse(service, plan, [], null);
  const objects = target === null ? [] : [target.object];
  const stored = readRevisions(objects, service, () => false).history;
  expect(planCourse(service, plan, stored, null).target).toBe(stored[0]);

  const anew = { ...service, uid: 'uid-2' };
  const own = planCourse(anew, plan, readRevisions(objects, anew, () => false).history, null).target;
  expect(own?.number).toBe(1);
  expect(own?.template.configMap.metadata.ownerReferences).toMatchObject([{ uid: 'uid-2' }]);
});
