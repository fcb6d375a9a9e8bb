import { expect, test } from '@jest/globals';
import { groupLabels } from '@llmservice/crds';
import type { Pod } from '../kube/types.js';
import { ended, pod } from '../status/observed.fixture.js';
import { GroupLosses } from './group-losses.js';

const bornAt = '2026-01-01T00:00:00Z';

/** A pod of the group `demo-group-0`, by its place in it and in which life of the group. */
function member(worker: number, life: number, change: Parameters<typeof pod>[1] = {}): Pod {
  const name = worker === 0 ? 'demo-group-0' : `demo-group-0-${String(worker)}`;
  const plain = pod(name, change);
  const { set, group } = groupLabels;
  const labels = { [set]: 'demo-group', [group]: '0', [groupLabels.worker]: String(worker) };
  const uid = `${String(worker)}/${String(life)}`;
  return {
    ...plain,
    metadata: { ...plain.metadata, uid, namespace: 'ns', labels, creationTimestamp: bornAt },
  };
}

function losses(...events: readonly Pod[]) {
  const seen = new GroupLosses(() => Date.parse(bornAt) + 60_000);
  for (const event of events) seen.see(event);
  return seen.of('ns', ['demo-group-0', 'demo-group-0', 'other']);
}

const broken = ended(1, JSON.stringify({ reason: 'EngineFault', message: 'device lost' }));
const gone = { deleted: true };

test('the pod that was lost first is named, not those that go with it', () => {
  expect(losses(member(0, 1), member(1, 1), member(1, 1, gone), member(0, 1, gone))).toMatchObject([
    { group: 'demo-group-0', pod: 'demo-group-0-1', worker: 1, how: 'deleted', failure: null, failures: 0 },
  ]);
  // Nothing was seen of the leader before.
  expect(losses(member(1, 1, broken), member(0, 1, gone))).toMatchObject([
    { pod: 'demo-group-0-1', failure: { reason: 'EngineFault', message: 'device lost' } },
  ]);
});

test('what is lost in a row is counted, until the leader answers', () => {
  const first = [member(0, 1), member(1, 1, broken), member(0, 1, gone)];
  const second = [member(0, 2), member(1, 2), member(1, 2, broken), member(1, 2, gone)];
  expect(losses(...first, ...second)).toMatchObject([{ failures: 2 }]);
  expect(losses(...first, member(0, 2, { ready: true }), ...second.slice(1))).toMatchObject([
    { failures: 1 },
  ]);
  expect(losses(...first, member(0, 2, { ready: true }))).toEqual([]);
});

test('another revision begins to count anew, and an image that does not come is no loss', () => {
  const waiting = { state: { waiting: { reason: 'ImagePullBackOff' } } };
  expect(losses(member(0, 1), member(1, 1, { container: waiting }))).toEqual([]);
  expect(losses(member(1, 1, broken), member(1, 2, { ...broken, revision: 'newer' }))).toMatchObject([
    { revision: 'newer', failures: 1 },
  ]);
});

test('a pod of no group is none of its matter', () => {
  expect(losses(pod('demo-1', gone))).toEqual([]);
});
