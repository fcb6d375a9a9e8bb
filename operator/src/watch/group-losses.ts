// Which pod of a group was lost first. LWS deletes the whole group for it at once, with what the pod had to say of its end, so
// that it is remembered here, from the events in their order, until the group's leader answers again.

import { groupPlace } from '../kube/group-pods.js';
import type { Pod } from '../kube/types.js';
import type { GroupLoss } from '../status/observed.js';
import { isReady, podFailure, podRevision, restarts } from '../status/pod-state.js';

interface Group {
  /** Of pods that are there. */
  readonly uids: Set<string>;
  /** Of those that go with the one that was lost. */
  lostUids: ReadonlySet<string>;
  lostAtMs: number;
  loss: GroupLoss | null;
}

/** More than any operator has; the oldest are forgotten. */
const maxGroups = 10_000;

export class GroupLosses {
  /** By NAMESPACE/GROUP. */
  private readonly groups = new Map<string, Group>();

  constructor(private readonly nowMs: () => number = Date.now) {}

  /** Takes in what a watch says of a pod. */
  see(pod: Pod): void {
    const place = groupPlace(pod);
    const { uid = '', namespace = '', name } = pod.metadata;
    if (place === null) return;
    const key = `${namespace}/${place.group}`;
    const group = this.groupOf(key);
    if (group.lostUids.has(uid) || this.wentWith(group, pod)) return;
    group.uids.add(uid);
    const how = lostBy(pod);
    if (how === null) {
      if (place.worker === 0 && isReady(pod)) group.loss = null;
      return;
    }
    const failure = podFailure(pod);
    const revision = podRevision(pod);
    const before = group.loss?.revision === revision ? group.loss.failures : 0;
    const failures = failure === null ? before : before + 1;
    group.loss = { group: place.group, pod: name, worker: place.worker, revision, failure, how, failures };
    group.lostUids = new Set(group.uids);
    group.uids.clear();
    group.lostAtMs = this.nowMs();
  }

  /** Of these groups, by the names of their leaders' pods. */
  of(namespace: string, groups: Iterable<string>): GroupLoss[] {
    return [...new Set(groups)].flatMap((group) => this.groups.get(`${namespace}/${group}`)?.loss ?? []);
  }

  private groupOf(key: string): Group {
    const known = this.groups.get(key);
    if (known !== undefined) return known;
    const group: Group = { uids: new Set(), lostUids: new Set(), lostAtMs: -Infinity, loss: null };
    this.groups.set(key, group);
    const [oldest] = this.groups.keys();
    if (this.groups.size > maxGroups && oldest !== undefined) this.groups.delete(oldest);
    return group;
  }

  /** A pod that nothing was seen of before, but that is older than the loss and goes too. */
  private wentWith(group: Group, { metadata }: Pod): boolean {
    if (metadata.deletionTimestamp === undefined || group.uids.has(metadata.uid ?? '')) return false;
    return Date.parse(metadata.creationTimestamp ?? '') <= group.lostAtMs;
  }
}

function lostBy(pod: Pod): GroupLoss['how'] | null {
  const failure = podFailure(pod);
  // No run has ended yet: its own group waits for it.
  if (failure !== null && failure.reason !== 'ImagePullFailed') return 'ended';
  if (restarts(pod) > 0) return 'ended';
  return pod.metadata.deletionTimestamp === undefined ? null : 'deleted';
}
