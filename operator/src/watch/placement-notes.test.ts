import { expect, test } from '@jest/globals';
import { ApiError } from '../kube/client.js';
import type { Pod, PodSpec } from '../kube/types.js';
import { wantedService } from '../resource/wanted-service.fixture.js';
import { PlacementNotes } from './placement-notes.js';

const gates = { schedulingGates: [{ name: 'kueue.x-k8s.io/admission' }] };
const pod = (spec: PodSpec, message = 'not yet'): Pod => ({
  ...{ apiVersion: 'v1', kind: 'Pod' },
  metadata: {
    ...{ name: 'demo-1', namespace: 'ns', uid: 'uid-1', creationTimestamp: '2026-01-01T00:00:00Z' },
    labels: { 'kueue.x-k8s.io/queue-name': 'team' },
  },
  spec,
  status: { conditions: [{ type: 'PodScheduled', status: 'False', reason: 'SchedulingGated', message }] },
});
const reserved = { type: 'QuotaReserved', status: 'False', message: 'insufficient unused quota' };
const workload = {
  metadata: { name: 'pod-demo-1', labels: { 'kueue.x-k8s.io/job-uid': 'uid-1' } },
  status: { conditions: [reserved] },
};

/** An API server that has one version of Kueue's API, or none; a clock that moves where it is set. */
function notes(served: string | null) {
  const asked: string[] = [];
  const clock = { now: 0 };
  const client = {
    async *list(path: string) {
      asked.push(path);
      await Promise.resolve();
      if (served === null || !path.includes(`/${served}/`)) throw new ApiError(404, 'not found', 'NotFound');
      yield workload;
    },
    find: (path: string) => {
      asked.push(path);
      return Promise.resolve(null);
    },
  };
  const devices = { look: () => Promise.resolve(null) };
  return { asked, clock, notes: new PlacementNotes(client as never, devices, () => clock.now) };
}

const scheduled = ([{ status } = {}]: readonly Partial<Pod>[]) => status?.conditions?.[0];

test.each(['v1beta2', 'v1beta1'])(
  'of a pod that Kueue holds its Workload of %s says why, and since when',
  async (served) => {
    const { asked, notes: of } = notes(served);
    const service = wantedService({ queueName: 'team' });
    expect(await of.read(service, [pod(gates)])).toBe(15_000);
    expect(asked.at(-1)).toBe(`/apis/kueue.x-k8s.io/${served}/namespaces/ns/workloads`);
    expect(scheduled(of.explained('ns/demo', [pod(gates)]))).toEqual({
      ...{
        type: 'PodScheduled',
        status: 'False',
        reason: 'Queued',
        lastTransitionTime: '2026-01-01T00:00:00Z',
      },
      message: expect.stringContaining('in the LocalQueue team: insufficient unused quota'),
    });
    // Admitted, it is the scheduler's again.
    const placed = pod({ nodeName: 'a' });
    expect(of.explained('ns/demo', [placed])).toEqual([placed]);
    expect(await of.read(service, [placed])).toBeNull();
  },
);

test('without Kueue that much is said, and nothing fails', async () => {
  const { notes: of } = notes(null);
  await of.read(wantedService({ queueName: 'team' }), [pod(gates)]);
  expect(scheduled(of.explained('ns/demo', [pod(gates)]))?.message).toContain('may not read its Workload');
});

test('a pod that waits for nothing of these costs no request', async () => {
  const { asked, notes: of } = notes('v1beta2');
  expect(await of.read(wantedService(), [pod({}), pod({ nodeName: 'a' })])).toBeNull();
  expect(asked).toEqual([]);
});

test('all that wait in a namespace share a list for a while, of the version that answered before', async () => {
  const { asked, clock, notes: of } = notes('v1beta1');
  const service = wantedService({ queueName: 'team' });
  await of.read(service, [pod(gates), pod(gates)]);
  await of.read(service, [pod(gates)]);
  expect(asked).toHaveLength(2);
  clock.now = 5_000;
  await of.read(service, [pod(gates)]);
  expect(asked).toHaveLength(3);
  expect(asked.at(-1)).toContain('/v1beta1/');
});

test('what stays as it is is read less and less often', async () => {
  const { clock, notes: of } = notes('v1beta2');
  const service = wantedService({ queueName: 'team' });
  const at = (now: number, ...pods: Pod[]) => {
    clock.now = now;
    return of.read(service, pods);
  };
  expect(await at(0, pod(gates))).toBe(15_000);
  expect(await at(1_000, pod(gates))).toBe(15_000);
  expect(await at(60_000, pod(gates))).toBe(60_000);
  expect(await at(3_600_000, pod(gates))).toBe(240_000);
  const another = pod(gates);
  expect(await at(3_600_000, { ...another, metadata: { ...another.metadata, name: 'demo-2' } })).toBe(15_000);
});

test('a template of claims that is missing is asked for once for all pods of a service', async () => {
  const { asked, notes: of } = notes(null);
  const accelerator = { profile: 'mi300x', devices: 1, claim: { templateName: 'mine' } };
  await of.read(wantedService({ accelerator }), [pod({}), pod({})]);
  expect(asked).toEqual(['/apis/resource.k8s.io/v1/namespaces/ns/resourceclaimtemplates/mine']);
  expect(scheduled(of.explained('ns/demo', [pod({})]))?.message).toContain('no ResourceClaimTemplate mine');
});
