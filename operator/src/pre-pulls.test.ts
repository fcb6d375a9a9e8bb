import { expect, jest, test } from '@jest/globals';
import type { Writer } from './apply/writer.js';
import { ApiError } from './kube/client.js';
import type { KubeObject } from './kube/types.js';
import type { ServicePlan } from './plan/plan-service.js';
import { planTemplate } from './plan/pods/planned-template.js';
import { PrePulls } from './pre-pulls.js';
import { wantedService } from './spec/wanted-service.fixture.js';

const service = wantedService({
  model: { uri: 's3://bucket/folder/', cache: { kind: 'pvc', claimName: 'weights', prePull: true } },
});
const template = planTemplate(service, {
  image: 'runtime:1',
  pullImage: null,
  size: { fileBytes: 1, weightBytes: 1 },
  memoryPlan: null,
  pins: null,
});
const plan = { resolution: { state: 'resolved' } } as ServicePlan;

test('a Job that the API server refuses is told and logged once, until it is made', async () => {
  const jobs: KubeObject[] = [];
  const apply = jest
    .fn<Writer['apply']>()
    .mockRejectedValue(new ApiError(403, 'exceeded quota', 'Forbidden'));
  const warn = jest.fn();
  const caches = { jobsOf: () => jobs, live: () => null, remember: (job: KubeObject) => jobs.push(job) };
  const room = { look: () => Promise.resolve([]) };
  const pulls = new PrePulls(caches, { apply } as never, room, { warn } as never);
  const look = () => pulls.bringAbout(service, template, false);
  const told = () => pulls.tell(service, plan).resolution;

  expect(await look()).toBe(1_000);
  expect(told()).toMatchObject({
    ahead: expect.stringMatching(/cannot be pulled ahead: Job demo-pull-\w+ was refused: exceeded quota/),
  });
  expect(await look()).toBeGreaterThan(1_000);
  expect(warn).toHaveBeenCalledTimes(1);

  apply.mockImplementation((job) => Promise.resolve(job));
  expect(await look()).toBe(1_000);
  expect(told()).toMatchObject({ ahead: 'Weights are pulled ahead: 0 of 1 Jobs are done.' });
});
