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
const list = { items: [{ metadata: { name: 'pod-demo-1' }, status: { conditions: [reserved] } }] };

/** An API server that has one version of Kueue's API, or none. */
function notes(served: string | null) {
  const asked: string[] = [];
  const client = {
    get: (path: string, query: unknown) => {
      asked.push(`${path} ${JSON.stringify(query)}`);
      return served !== null && path.includes(`/${served}/`)
        ? Promise.resolve(list)
        : Promise.reject(new ApiError(404, 'not found', 'NotFound'));
    },
    find: () => Promise.resolve(null),
  };
  return { asked, notes: new PlacementNotes(client as never, { look: () => Promise.resolve(null) }) };
}

const scheduled = ([{ status } = {}]: readonly Partial<Pod>[]) => status?.conditions?.[0];

test.each(['v1beta2', 'v1beta1'])(
  'of a pod that Kueue holds its Workload of %s says why, and since when',
  async (served) => {
    const { asked, notes: of } = notes(served);
    const service = wantedService({ queueName: 'team' });
    expect(await of.read(service, [pod(gates)])).toBe(15_000);
    expect(asked.at(-1)).toBe(
      `/apis/kueue.x-k8s.io/${served}/namespaces/ns/workloads {"labelSelector":"kueue.x-k8s.io/job-uid=uid-1"}`,
    );
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
