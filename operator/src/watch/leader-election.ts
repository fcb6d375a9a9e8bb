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

  /** Renews until the signal aborts or the lease is lost; either way it is not held any more. */
  async keep(signal: AbortSignal): Promise<'aborted' | 'lost'> {
    for (;;) {
      await sleep(this.retryMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) {
        this.renewedAt = -Infinity;
        return 'aborted';
      }
      // A process that slept past the deadline must not renew as if nothing had happened.
      if (!this.held) return 'lost';
      await this.attempt();
    }
  }

  /** Lets another take over at once. Only after keep() has ended, and with no write of this process under way. */
  async release(): Promise<void> {
    const signal = this.deadline();
    try {
      const lease = await this.read(signal);
      if (lease?.spec?.holderIdentity !== this.options.identity) return;
      await this.write({ ...lease, spec: { ...lease.spec, holderIdentity: '' } }, signal);
    } catch (error) {
      this.options.logger.warn('lease was not given up', { error: (error as Error).message });
    }
  }

  /** One try to take or renew; a false answer is no error. */
  private async attempt(): Promise<boolean> {
    const { client, namespace, logger } = this.options;
    const startedAt = performance.now();
    const signal = this.deadline();
    try {
      const lease = await this.read(signal);
      if (lease === null) {
        await client.create(resources.leases, namespace, this.lease(null), { signal });
      } else {
        if (!this.mayTake(lease)) return false;
        await this.write(this.lease(lease), signal);
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

  /** Of one try, all its requests together: an answer that never comes must leave time for another try. */
  private deadline(): AbortSignal {
    return AbortSignal.timeout(this.renewDeadlineMs / 2);
  }

  private async read(signal: AbortSignal): Promise<Lease | null> {
    const { client, namespace, name } = this.options;
    return client.find<Lease>(objectPath(resources.leases, namespace, name), { signal });
  }

  /** The resourceVersion inside makes a write fail when another was faster. */
  private async write(lease: Lease, signal: AbortSignal): Promise<void> {
    const { client, namespace, name } = this.options;
    const path = objectPath(resources.leases, namespace, name);
    await client.request({ method: 'PUT', path, body: lease, signal });
  }
}
