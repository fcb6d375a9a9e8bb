// Why pods wait for their nodes where the scheduler's words do not say it: Kueue's of the Workload that stands for a pod, and
// the devices that a claim selects. Read only while a pod waits.

import { labels } from '@llmservice/crds';
import type { WantedService } from '../domain/wanted-service.js';
import { ApiError, type KubeClient } from '../kube/client.js';
import { hasEnded } from '../kube/has-ended.js';
import { isQueued, noRoomForClaim } from '../kube/pod-wait.js';
import { collectionPath, keyOf, objectPath, resources } from '../kube/resources.js';
import type { ObjectCondition, Pod } from '../kube/types.js';
import { describeDevices } from '../plan/fit/device-match.js';
import { podCondition } from '../status/pod-state.js';
import { describeWorkload, type Workload } from '../status/workload-text.js';
import type { DeviceRoom } from './device-room.js';

/** What changes there changes no pod. */
const recheckMs = 15_000;
/** Others of a service wait for the same. */
const maxPods = 4;
/** Newer first: as Kueue serves it. */
const workloads = ['kueue.x-k8s.io/v1beta2', 'kueue.x-k8s.io/v1beta1'].map((apiVersion) => ({
  ...{ apiVersion, kind: 'Workload', plural: 'workloads' },
}));

type Note = Pick<ObjectCondition, 'reason' | 'message'>;

export class PlacementNotes {
  /** By service and pod. */
  private readonly notes = new Map<string, ReadonlyMap<string, Note>>();

  constructor(
    private readonly client: Pick<KubeClient, 'get' | 'find'>,
    private readonly devices: Pick<DeviceRoom, 'look'>,
  ) {}

  /** @returns when to look again, if by time alone */
  async read(service: WantedService, pods: readonly Pod[]): Promise<number | null> {
    const key = `${service.namespace}/${service.name}`;
    const waiting = pods.filter(waits).slice(0, maxPods);
    const found = await Promise.all(waiting.map((pod) => this.noteOf(service, pod)));
    const notes = waiting.flatMap((pod, index) => {
      const note = found[index] ?? null;
      return note === null ? [] : [[keyOf(pod), note] as const];
    });
    if (notes.length === 0) this.notes.delete(key);
    else this.notes.set(key, new Map(notes));
    return notes.length === 0 ? null : recheckMs;
  }

  /** The pods with these reasons in place of the scheduler's. */
  explained(key: string, pods: readonly Pod[]): Pod[] {
    const notes = this.notes.get(key);
    return pods.map((pod) => {
      const note = notes?.get(keyOf(pod));
      return note === undefined || !waits(pod) ? pod : withNote(pod, note);
    });
  }

  forget(key: string): void {
    this.notes.delete(key);
  }

  private async noteOf(service: WantedService, pod: Pod): Promise<Note | null> {
    if (isQueued(pod)) {
      const queue = pod.metadata.labels?.[labels.queue] ?? '';
      return {
        reason: 'Queued',
        message: describeWorkload(pod.metadata.name, queue, await this.workload(pod)),
      };
    }
    const { claim } = service.accelerator;
    if (claim?.state === 'named') return this.missingTemplate(service.namespace, claim.templateName);
    const { reason = 'Unschedulable', message = '' } = podCondition(pod, 'PodScheduled') ?? {};
    if (claim?.match == null || !message.includes(noRoomForClaim)) return null;
    const devices = await this.devices.look();
    return devices === null
      ? null
      : { reason, message: `${message} ${describeDevices(claim.match, devices)}` };
  }

  private async missingTemplate(namespace: string, name: string): Promise<Note | null> {
    const path = objectPath(resources.claimTemplates, namespace, name);
    const found = await answered(() => this.client.find(path));
    if (found !== null) return null;
    const message =
      `There is no ResourceClaimTemplate ${name} in the namespace ${namespace}, from which pods get their devices. ` +
      'Create it, or correct spec.accelerator.claim.templateName.';
    return { reason: 'ClaimTemplateMissing', message };
  }

  /** Null: there is none; undefined: not known. */
  private async workload({ metadata }: Pod): Promise<Workload | null | undefined> {
    const query = { labelSelector: `kueue.x-k8s.io/job-uid=${metadata.uid ?? ''}` };
    for (const resource of workloads) {
      const path = collectionPath(resource, metadata.namespace ?? '');
      const list = await answered(() => this.client.get<{ items: readonly Workload[] }>(path, query));
      if (list !== undefined) return list.items[0] ?? null;
    }
    return undefined;
  }
}

/** Undefined: the API server refuses it, or does not serve it. */
async function answered<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}

function waits(pod: Pod): boolean {
  const { metadata, spec } = pod;
  return metadata.deletionTimestamp === undefined && spec?.nodeName === undefined && !hasEnded(pod);
}

function withNote(pod: Pod, note: Note): Pod {
  const before = podCondition(pod, 'PodScheduled');
  // The API server does not date that a pod is held.
  const since = before?.lastTransitionTime ?? pod.metadata.creationTimestamp;
  const condition: ObjectCondition = {
    type: 'PodScheduled',
    status: 'False',
    ...note,
    ...(since === undefined ? {} : { lastTransitionTime: since }),
  };
  const others = (pod.status?.conditions ?? []).filter(({ type }) => type !== 'PodScheduled');
  return { ...pod, status: { ...pod.status, conditions: [...others, condition] } };
}
