// Writes the status of a service where it changed, with an event for each transition that is worth one.

import { timestamp, type LlmServiceStatus } from '@llmservice/crds';
import type { Writer } from '../apply/writer.js';
import { contentHash } from '../domain/content-hash.js';
import type { KubeObject } from '../kube/types.js';
import { buildStatus, pendingConditions } from '../status/build-status.js';
import { transitions } from '../status/events.js';
import type { ServiceClass } from '../domain/service-class.js';
import type { Observed } from '../status/observed.js';
import type { Caches } from '../watch/caches.js';

export class StatusWriter {
  constructor(
    private readonly caches: Pick<Caches, 'latest' | 'remember'>,
    private readonly writer: Pick<Writer, 'writeStatus' | 'emit'>,
    private readonly now: () => Date,
  ) {}

  /** A service nobody reconciled yet gets all its conditions first, so that waiting for one of them can begin. */
  async announce(object: KubeObject): Promise<KubeObject> {
    if (statusOf(object).conditions !== undefined) return object;
    const conditions = pendingConditions(object.metadata.generation ?? 0, timestamp(this.now()));
    const written = await this.writer.writeStatus(object, { conditions });
    this.caches.remember(written);
    return written;
  }

  /**
   * What is taken of a class is kept before anything is made of it: whatever comes between, it is what pods are planned with.
   * That the same values are of another generation is written with the rest: a change of bounds alone is a write a service.
   */
  async take(object: KubeObject, serviceClass: ServiceClass): Promise<KubeObject> {
    if (serviceClass.state !== 'taken') return object;
    const latest = this.caches.latest(object);
    const before = statusOf(latest);
    const { generation } = serviceClass.taken;
    const known = before.class === undefined ? null : { ...before.class, generation };
    if (contentHash(known) === contentHash(serviceClass.taken)) return object;
    this.caches.remember(await this.writer.writeStatus(latest, { ...before, class: serviceClass.taken }));
    return this.caches.latest(latest);
  }

  async write(object: KubeObject, observed: Observed): Promise<void> {
    const latest = this.caches.latest(object);
    const before = statusOf(latest);
    const after = buildStatus({ ...observed, previous: before });
    if (contentHash(before) === contentHash(after)) return;
    this.caches.remember(await this.writer.writeStatus(latest, after));
    const now = timestamp(this.now());
    for (const transition of transitions(before, after)) await this.writer.emit(latest, transition, now);
  }
}

export function statusOf(object: KubeObject): LlmServiceStatus {
  return object['status'] ?? {};
}
