// Leader election by one Lease. Who holds it is judged by this process's own monotonic clock, so that clock skew
// between machines and a process that was stopped for a while (SIGSTOP, a paused machine) never yield two writers:
// `held` turns false before another may take over.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'winston';
import { ApiError, type KubeClient } from '../kube/client.js';
import { objectPath, resources } from '../kube/resources.js';
import type { KubeObject } from '../kube/types.js';

export interface LeaderElectionOptions {
  readonly client: KubeClient;
  readonly namespace: string;
  readonly name: string;
  readonly identity: string;
  readonly logger: Logger;
  /** Others may take over when the lease was not renewed for this long. */
  readonly leaseMs?: number;
  /** The holder stops writing when it could not renew for this long; less than leaseMs. */
  readonly renewDeadlineMs?: number;
  readonly retryMs?: number;
}

interface Lease extends KubeObject {
  readonly spec?: {
    readonly holderIdentity?: string;
    readonly leaseDurationSeconds?: number;
    readonly acquireTime?: string;
    readonly renewTime?: string;
    readonly leaseTransitions?: number;
  };
}

export class LeaderElection {
  private readonly leaseMs: number;
  private readonly renewDeadlineMs: number;
  private readonly retryMs: number;
  private renewedAt = -Infinity;
  private seen = { version: '', at: 0 };

  constructor(private readonly options: LeaderElectionOptions) {
    this.leaseMs = options.leaseMs ?? 15_000;
    this.renewDeadlineMs = options.renewDeadlineMs ?? 10_000;
    this.retryMs = options.retryMs ?? 2_000;
  }

  /** Whether this process may write now. */
  get held(): boolean {
    return performance.now() - this.renewedAt < this.renewDeadlineMs;
  }

  /** Waits until the lease is ours. @throws when the signal aborts */
  async acquire(signal: AbortSignal): Promise<void> {
    for (;;) {
      signal.throwIfAborted();
      if (await this.attempt()) return;
      await sleep(this.retryMs * (1 + Math.random() / 5), undefined, { signal });
    }
  }

  /** Renews until the signal aborts (then gives the lease up) or it is lost. Returns whether it was lost. */
  async keep(signal: AbortSignal): Promise<'released' | 'lost'> {
    for (;;) {
      await sleep(this.retryMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) {
        await this.release();
        return 'released';
      }
      // A process that slept past the deadline must not renew as if nothing had happened.
      if (!this.held) return 'lost';
      await this.attempt();
    }
  }

  /** One try to take or renew; a false answer is no error. */
  private async attempt(): Promise<boolean> {
    const { client, namespace, name, logger } = this.options;
    const startedAt = performance.now();
    try {
      const lease = await client.find<Lease>(objectPath(resources.leases, namespace, name));
      if (lease === null) {
        await client.create(resources.leases, namespace, this.lease(null));
      } else {
        if (!this.mayTake(lease)) return false;
        await this.write(this.lease(lease));
      }
      // Counted from before the request, as others may count from when the server wrote it.
      this.renewedAt = startedAt;
      return true;
    } catch (error) {
      const lostRace = error instanceof ApiError && error.status === 409;
      if (!lostRace) logger.warn('lease request failed', { error: (error as Error).message });
      return false;
    }
  }

  /** A lease of another is free once it is given up, or unchanged for as long as it lasts by our own clock. */
  private mayTake(lease: Lease): boolean {
    const holder = lease.spec?.holderIdentity ?? '';
    if (holder === '' || holder === this.options.identity) return true;
    const version = lease.metadata.resourceVersion ?? '';
    if (version !== this.seen.version) this.seen = { version, at: performance.now() };
    return performance.now() - this.seen.at > this.leaseMs;
  }

  private lease(current: Lease | null): Lease {
    const { namespace, name, identity } = this.options;
    const now = new Date().toISOString().replace('Z', '000Z');
    const kept = current?.spec?.holderIdentity === identity ? current.spec : undefined;
    return {
      apiVersion: resources.leases.apiVersion,
      kind: resources.leases.kind,
      metadata: current?.metadata ?? { name, namespace },
      spec: {
        holderIdentity: identity,
        leaseDurationSeconds: Math.ceil(this.leaseMs / 1000),
        acquireTime: kept?.acquireTime ?? now,
        renewTime: now,
        leaseTransitions: (current?.spec?.leaseTransitions ?? -1) + (kept === undefined ? 1 : 0),
      },
    };
  }

  /** The resourceVersion inside makes a write fail when another was faster. */
  private async write(lease: Lease): Promise<void> {
    const { client, namespace, name } = this.options;
    await client.request({
      method: 'PUT',
      path: objectPath(resources.leases, namespace, name),
      body: lease,
      signal: AbortSignal.timeout(this.renewDeadlineMs / 2),
    });
  }

  private async release(): Promise<void> {
    this.renewedAt = -Infinity;
    const { client, namespace, name, identity } = this.options;
    try {
      const lease = await client.find<Lease>(objectPath(resources.leases, namespace, name));
      if (lease?.spec?.holderIdentity !== identity) return;
      await this.write({ ...lease, spec: { ...lease.spec, holderIdentity: '' } });
    } catch (error) {
      this.options.logger.warn('lease was not given up', { error: (error as Error).message });
    }
  }
}
