// What is free on the nodes, looked up only when a rollout depends on it: watching every pod of a cluster would cost more
// memory than all else here. Null where the operator may not read nodes or pods of all namespaces.

import type { Logger } from 'winston';
import { ApiError, type KubeClient } from '../kube/client.js';
import { collectionPath, resources } from '../kube/resources.js';
import type { Node, Pod } from '../kube/types.js';
import { difference, parseAmounts, podRequests, sum, type Requests } from '../plan/fit/pod-requests.js';
import type { NodeRoom } from '../plan/rollouts/rollout.js';

/** Many services may roll at once: they share a look. One that took longer is fresh for as long as it took. */
const minFreshMs = 2_000;

type Room = readonly NodeRoom[] | null;

export class ClusterRoom {
  /** Never more than one is under way: of thousands of pods each is much work for the API server. */
  private running: Promise<Room> | null = null;
  private latest: { readonly freshUntil: number; readonly room: Promise<Room> } | null = null;

  constructor(
    private readonly client: KubeClient,
    private readonly logger: Logger,
    /** Milliseconds that never run backwards. */
    private readonly now: () => number = () => performance.now(),
  ) {}

  look(): Promise<Room> {
    if (this.running !== null) return this.running;
    const beganAt = this.now();
    if (this.latest !== null && beganAt < this.latest.freshUntil) return this.latest.room;
    const room = this.read().finally(() => {
      const endedAt = this.now();
      this.running = null;
      this.latest = { freshUntil: endedAt + Math.max(minFreshMs, endedAt - beganAt), room };
    });
    this.running = room;
    return room;
  }

  /** @throws ApiError other than a refusal */
  private async read(): Promise<Room> {
    try {
      const requested = await requestedByNode(this.client);
      const nodes: NodeRoom[] = [];
      for await (const node of this.client.list<Node>(collectionPath(resources.nodes, null))) {
        nodes.push(roomOf(node, requested.get(node.metadata.name) ?? {}));
      }
      return nodes;
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 403)) throw error;
      this.logger.debug('nodes are not readable', { error: error.message });
      return null;
    }
  }
}

/** What pods that run or will have taken of each node. @throws ApiError */
export async function requestedByNode(client: KubeClient): Promise<Map<string, Requests>> {
  const found = new Map<string, Requests>();
  const fieldSelector = 'spec.nodeName!=,status.phase!=Succeeded,status.phase!=Failed';
  const path = collectionPath(resources.pods, null);
  for await (const { spec = {} } of client.list<Pod>(path, { fieldSelector })) {
    const node = spec.nodeName ?? '';
    found.set(node, sum(found.get(node) ?? {}, podRequests(spec)));
  }
  return found;
}

function roomOf({ metadata, spec, status }: Node, requested: Requests): NodeRoom {
  const cordoned = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };
  return {
    name: metadata.name,
    labels: metadata.labels ?? {},
    taints: [...(spec?.taints ?? []), ...(spec?.unschedulable === true ? [cordoned] : [])],
    free: difference(parseAmounts(status?.allocatable), requested),
  };
}
