// Why pods wait for their nodes where the scheduler's words do not say it: Kueue's of the Workload that stands for a pod, and
// the devices that a claim selects. Read only while a pod waits.

import { isDeepStrictEqual } from 'node:util';
import { labels } from '@llmservice/crds';
import type { WantedService } from '../domain/wanted-service.js';
import type { KubeClient } from '../kube/client.js';
import { hasEnded } from '../kube/has-ended.js';
import { isQueued, noRoomForClaim } from '../kube/pod-wait.js';
import { keyOf, objectPath, resources } from '../kube/resources.js';
import type { ObjectCondition, Pod } from '../kube/types.js';
import { describeDevices } from '../plan/fit/device-match.js';
import { podCondition } from '../status/pod-state.js';
import { describeWorkload } from '../status/workload-text.js';
import type { DeviceRoom } from './device-room.js';
import { answered, QueuedWorkloads } from './queued-workloads.js';

/** What changes there changes no pod. What has not changed for long is read less often. */
const recheckMs = { min: 15_000, max: 4 * 60_000 };
/** Others of a service wait for the same. */
const maxPods = 4;
type Note = Pick<ObjectCondition, 'reason' | 'message'>;

/** Of a service. */
interface Notes {
  readonly byPod: ReadonlyMap<string, Note>;
  /** When they changed last. */
  readonly since: number;
}

export class PlacementNotes {
  /** By service. */
  private readonly notes = new Map<string, Notes>();
  private readonly workloads: QueuedWorkloads;

  constructor(
    private readonly client: Pick<KubeClient, 'list' | 'find'>,
    private readonly devices: Pick<DeviceRoom, 'look'>,
    /** Milliseconds that never run backwards. */
    private readonly now: () => number = () => performance.now(),
  ) {
    this.workloads = new QueuedWorkloads(client, now);
  }

  /** @returns when to look again, if by time alone */
  async read(service: WantedService, pods: readonly Pod[]): Promise<number | null> {
    const key = `${service.namespace}/${service.name}`;
    const waiting = pods.filter(waits).slice(0, maxPods);
    const missing = waiting.every(isQueued) ? null : await this.missingTemplate(service);
    const found = await Promise.all(waiting.map((pod) => this.noteOf(service, pod, missing)));
    const notes = waiting.flatMap((pod, index) => {
      const note = found[index] ?? null;
      return note === null ? [] : [[keyOf(pod), note] as const];
    });
    if (notes.length === 0) {
      this.notes.delete(key);
      return null;
    }
    const now = this.now();
    const before = this.notes.get(key);
    const isSame = before !== undefined && isDeepStrictEqual([...before.byPod], notes);
    const since = isSame ? before.since : now;
    this.notes.set(key, { byPod: new Map(notes), since });
    return Math.min(Math.max(now - since, recheckMs.min), recheckMs.max);
  }

  /** The pods with these reasons in place of the scheduler's. */
  explained(key: string, pods: readonly Pod[]): Pod[] {
    const notes = this.notes.get(key)?.byPod;
    return pods.map((pod) => {
      const note = notes?.get(keyOf(pod));
      return note === undefined || !waits(pod) ? pod : withNote(pod, note);
    });
  }

  forget(key: string): void {
    this.notes.delete(key);
  }

  private async noteOf(service: WantedService, pod: Pod, missing: Note | null): Promise<Note | null> {
    if (isQueued(pod)) {
      const queue = pod.metadata.labels?.[labels.queue] ?? '';
      return {
        reason: 'Queued',
        message: describeWorkload(pod.metadata.name, queue, await this.workloads.of(pod)),
      };
    }
    const { claim, devices: count } = service.accelerator;
    if (claim?.state === 'named') return missing;
    const { reason = 'Unschedulable', message = '' } = podCondition(pod, 'PodScheduled') ?? {};
    if (claim?.match == null || !message.includes(noRoomForClaim)) return null;
    const devices = await this.devices.look();
    return devices === null
      ? null
      : { reason, message: `${message} ${describeDevices(claim.match, count, devices)}` };
  }

  /** Null: it is there, or the spec names none. */
  private async missingTemplate({ namespace, accelerator }: WantedService): Promise<Note | null> {
    if (accelerator.claim?.state !== 'named') return null;
    const { templateName: name } = accelerator.claim;
    const path = objectPath(resources.claimTemplates, namespace, name);
    const found = await answered(() => this.client.find(path));
    if (found !== null) return null;
    const message =
      `There is no ResourceClaimTemplate ${name} in the namespace ${namespace}, from which pods get their devices. ` +
      'Create it, or correct spec.accelerator.claim.templateName.';
    return { reason: 'ClaimTemplateMissing', message };
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
