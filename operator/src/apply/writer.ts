// Every write of the operator goes through here, and none leaves a process that does not hold the lease.
// Writes over an object that was seen carry its version, so that a stale view ends in a conflict, not in a mistake.

import { randomUUID } from 'node:crypto';
import {
  autoscalerManager,
  fieldManager,
  type FieldOwner,
  type LlmGatewayStatus,
  type LlmServiceStatus,
} from '@llmservice/crds';
import type { KubeClient } from '../kube/client.js';
import { controllerUid } from '../kube/controller-uid.js';
import { groupSetName } from '../kube/group-set-name.js';
import { objectPath, resourceOf, resources } from '../kube/resources.js';
import type { KubeObject } from '../kube/types.js';
import { ownerNoun, strangeness, type ChildOwner } from '../plan/identity/child-identity.js';
import type { Transition } from '../status/events.js';
import { hasImageVolumes, ImageVolumesDroppedError, trialOf } from './image-volumes.js';
import { marked } from './needs-apply.js';

/** An event that nobody takes must not hold up the service that it is about. */
const eventTimeoutMs = 5_000;
/** The name of an object, with a UUID after it. */
const maxEventNameChars = 253 - 37;

export class NotLeaderError extends Error {
  override readonly name = 'NotLeaderError';
  constructor() {
    super('the lease is not held: nothing is written');
  }
}

/** The name of a child is taken by an object of somebody else. */
export class NameTakenError extends Error {
  override readonly name = 'NameTakenError';
}

/** What was to be written is no child of the service that it was planned for: nothing of it leaves the process. */
export class NotAChildError extends Error {
  override readonly name = 'NotAChildError';
}

export class Writer {
  private readonly client: KubeClient;

  constructor(
    client: KubeClient,
    mayWrite: () => boolean,
    private readonly identity: string,
    private readonly onEventRefused: (error: Error) => void = () => undefined,
  ) {
    this.client = client.guardedBy(() => {
      if (!mayWrite()) throw new NotLeaderError();
    });
  }

  /**
   * Applies a child over `live`, its last known form (null: none is known).
   * @throws NameTakenError where an object of that name belongs to another
   * @throws ImageVolumesDroppedError where its pods would be without a volume that it has
   * @throws NotAChildError where services have no such object, or not in this namespace or under this name
   */
  async apply(desired: KubeObject, live: KubeObject | null, owner: ChildOwner): Promise<KubeObject> {
    const { kind, metadata } = desired;
    const strange = strangeness(desired, owner);
    if (strange !== null) {
      const whose = `${owner.namespace}/${owner.name}`;
      throw new NotAChildError(`${kind} ${metadata.name} is not written for ${whose}: ${strange}`);
    }
    const present = live ?? (await this.find(desired));
    if (present !== null && isGroupsOwn(present, owner)) return present;
    if (present !== null && controllerUid(present) !== owner.uid) {
      throw new NameTakenError(
        `${kind} ${metadata.name} exists already and does not belong to this ${ownerNoun(owner)}. ` +
          `Delete it or choose another name for the ${ownerNoun(owner)}.`,
      );
    }
    const version = { resourceVersion: present?.metadata.resourceVersion };
    if (hasImageVolumes(desired) && !hasImageVolumes(present)) {
      const trial = trialOf(desired);
      const of = trial === desired ? version : {};
      const tried = await this.client.apply(marked(trial), { ...of, dryRun: true });
      if (!hasImageVolumes(tried)) throw new ImageVolumesDroppedError();
    }
    return this.client.apply(marked(desired), version);
  }

  async writeStatus(object: KubeObject, status: LlmServiceStatus | LlmGatewayStatus): Promise<KubeObject> {
    const { apiVersion, kind } = resourceOf(object);
    const { name, namespace = '', resourceVersion } = object.metadata;
    return this.client.apply(
      { apiVersion, kind, metadata: { name, namespace }, status },
      { resourceVersion, subresource: 'status' },
    );
  }

  /** Sets spec.replicas as other autoscalers do, by the scale subresource, and owns nothing else there. */
  async scale(object: KubeObject, replicas: number): Promise<void> {
    const { name, namespace = '', resourceVersion } = object.metadata;
    await this.client.request({
      method: 'PATCH',
      path: `${objectPath(resources.llmServices, namespace, name)}/scale`,
      query: { fieldManager: autoscalerManager },
      contentType: 'application/merge-patch+json',
      body: { metadata: { resourceVersion }, spec: { replicas } },
    });
  }

  /** Who owns which fields of a service, and nothing else of it. Its status has no way to them. */
  async writeOwners(object: KubeObject, managedFields: readonly FieldOwner[]): Promise<void> {
    const { name, namespace = '', resourceVersion } = object.metadata;
    await this.client.request({
      method: 'PATCH',
      path: objectPath(resources.llmServices, namespace, name),
      contentType: 'application/merge-patch+json',
      body: { metadata: { resourceVersion, managedFields } },
    });
  }

  /** Leaves alone what is not the service's. @param owned whether what it owns goes too, or is left to whoever takes it */
  async delete(
    object: KubeObject,
    owner: ChildOwner,
    owned: 'Background' | 'Orphan' = 'Background',
  ): Promise<void> {
    const { namespace } = object.metadata;
    if (controllerUid(object) !== owner.uid || namespace !== owner.namespace) return;
    await this.client.delete(object, owned);
  }

  /** An event is for whoever looks: where it is refused, by a quota or a policy, nothing else may fail. */
  async emit(object: KubeObject, transition: Transition, now: string): Promise<void> {
    try {
      await this.createEvent(object, transition, now);
    } catch (error) {
      if (error instanceof NotLeaderError) throw error;
      this.onEventRefused(error as Error);
    }
  }

  private async createEvent(
    object: KubeObject,
    { type, reason, message }: Transition,
    now: string,
  ): Promise<void> {
    const { apiVersion, kind } = resources.llmServices;
    const { name, namespace = '', uid, resourceVersion } = object.metadata;
    const event = {
      apiVersion: resources.events.apiVersion,
      kind: resources.events.kind,
      metadata: { name: `${name.slice(0, maxEventNameChars)}.${randomUUID()}`, namespace },
      involvedObject: { apiVersion, kind, name, namespace, uid, resourceVersion },
      type,
      reason,
      message: message.slice(0, 1024),
      source: { component: fieldManager },
      reportingComponent: fieldManager,
      reportingInstance: this.identity.slice(0, 128),
      firstTimestamp: now,
      lastTimestamp: now,
      count: 1,
    };
    const signal = AbortSignal.timeout(eventTimeoutMs);
    await this.client.create(resources.events, namespace, event, { signal });
  }

  private async find({ apiVersion, kind, metadata }: KubeObject): Promise<KubeObject | null> {
    const resource = resourceOf({ apiVersion, kind });
    return this.client.find<KubeObject>(objectPath(resource, metadata.namespace ?? '', metadata.name));
  }
}

/** The Service that LWS's controller made for the group of this service: as good as the one that is planned. */
function isGroupsOwn({ kind, metadata }: KubeObject, owner: ChildOwner): boolean {
  const name = groupSetName(owner.name);
  const maker = metadata.ownerReferences?.find(({ controller }) => controller === true);
  return (
    kind === resources.services.kind &&
    metadata.name === name &&
    maker?.kind === resources.leaderWorkerSets.kind &&
    maker.name === name
  );
}
