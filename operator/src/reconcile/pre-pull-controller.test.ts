import { expect, jest, test } from '@jest/globals';
import type { Writer } from '../apply/writer.js';
import { ApiError } from '../kube/client.js';
import type { KubeObject } from '../kube/types.js';
import type { ServicePlan } from '../plan/plan-service.js';
import { planTemplate } from '../plan/pods/planned-template.js';
import { PrePullController, withPulledAhead } from './pre-pull-controller.js';
import { wantedService } from '../resource/wanted-service.fixture.js';

const service = wantedService({
  model: { uri: 's3://bucket/folder/', cache: { kind: 'pvc', claimName: 'weights', prePull: true } },
});
const template = planTemplate(service, {
  image: 'runtime:1',
  pullImage: null,
  operatorImage: null,
  size: { fileBytes: 1, weightBytes: 1 },
  memoryPlan: null,
  pins: null,
});

function pullsInto(jobs: KubeObject[]) {
  const apply = jest.fn<Writer['apply']>();
  const remove = jest.fn<Writer['delete']>(() => Promise.resolve());
  const caches = { jobsOf: () => jobs, live: () => null, remember: (job: KubeObject) => jobs.push(job) };
  const room = { look: () => Promise.resolve([]) };
  const pulls = new PrePullController(caches, { apply, delete: remove } as never, room, room);
  return { apply, remove, look: (isHeld = false) => pulls.ensure(service, template, isHeld) };
}

test('a Job that is not made is reported, and tried again after a while, until it is', async () => {
  const { apply, look } = pullsInto([]);
  for (const [status, message, shown] of [
    [403, 'exceeded quota', /cannot be pulled ahead: Job demo-pull-\w+ was refused: exceeded quota/],
    [403, 'request 1 denied', /request 1 denied/],
    [500, 'etcd is away', /cannot be pulled ahead: etcd is away/],
  ] as const) {
    apply.mockRejectedValueOnce(new ApiError(status, message, 'Why'));
    expect(await look()).toEqual({ message: expect.stringMatching(shown), recheckMs: 30_000 });
  }
  apply.mockImplementation((job) => Promise.resolve(job));
  const made = { message: 'Weights are pulled ahead: 0 of 1 Jobs are done.', recheckMs: 300_000 };
  expect([await look(), await look()]).toEqual([made, made]);
  expect(apply).toHaveBeenCalledTimes(4);
});

test('that no node is known to have the devices of a claim is reported, and Jobs that are there stay', async () => {
  const claimed = wantedService({
    model: {
      uri: 's3://bucket/folder/',
      cache: { kind: 'hostPath', path: '/cache', maxSize: '200Gi', prePull: true },
    },
    accelerator: { profile: 'mi300x', claim: {} },
  });
  const apply = jest.fn<Writer['apply']>();
  const remove = jest.fn<Writer['delete']>();
  const caches = {
    jobsOf: () => [{ metadata: { name: 'demo-pull-old' } }],
    live: () => null,
    remember: () => 0,
  };
  const node = { name: 'cpu', labels: {}, taints: [], free: {} };
  const pulls = new PrePullController(
    caches as never,
    { apply, delete: remove } as never,
    { look: () => Promise.resolve([node]) },
    { look: () => Promise.resolve(null) },
  );
  const { message, recheckMs } = await pulls.ensure(claimed, template, false);
  expect(recheckMs).toBe(300_000);
  expect(message).toContain('Weights cannot be pulled ahead: which nodes have the devices of the claim');
  expect(apply).not.toHaveBeenCalled();
  expect(remove).not.toHaveBeenCalled();
});

test('a Job that cannot be deleted is reported by nobody, and tried again', async () => {
  const { remove, look } = pullsInto([{ metadata: { name: 'demo-pull-old' } } as KubeObject]);
  remove.mockRejectedValueOnce(new ApiError(500, 'etcd is away', 'Why'));
  expect(await look(true)).toEqual({ message: null, recheckMs: 30_000 });
  await look(true);
  expect(remove).toHaveBeenCalledTimes(2);
});

test('how far they are is reported of a checkpoint that is known', () => {
  const resolved = { resolution: { state: 'resolved' } } as ServicePlan;
  expect(withPulledAhead(resolved, 'x')).toEqual({ resolution: { state: 'resolved', ahead: 'x' } });
  expect(withPulledAhead(resolved, null)).toBe(resolved);
  const failed = { resolution: { state: 'failed' } } as ServicePlan;
  expect(withPulledAhead(failed, 'x')).toBe(failed);
});
