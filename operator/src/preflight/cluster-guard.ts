// The guard of endpoints in a cluster: it knows the cluster's own ranges besides those that its administrator named. They
// are looked up before the first endpoint is read, and from then on every few minutes; what was found once stays refused
// where a later look fails.

import { lookup } from 'node:dns/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'winston';
import { ApiError, type KubeClient } from '../kube/client.js';
import { collectionPath, groupPath, objectPath, resources } from '../kube/resources.js';
import type { Node } from '../kube/types.js';
import { AddressGuard, type EndpointRules } from './address-guard.js';
import {
  endpointRanges,
  nodeRanges,
  serviceRanges,
  type EndpointSlice,
  type ServiceCidr,
} from './cluster-ranges.js';

/** By what endpoints are judged now. */
export interface Guarding {
  readonly rules: EndpointRules;
  readonly guard: AddressGuard;
}

/** The same for good. */
export function guardedBy(rules: EndpointRules): Guarding {
  return { rules, guard: new AddressGuard(rules) };
}

type Asked = Pick<KubeClient, 'find' | 'list' | 'serverHost'>;

export interface ClusterGuardOptions {
  readonly client: Asked;
  readonly logger: Logger;
  readonly rules: EndpointRules;
  readonly intervalMs?: number;
}

const retryMs = 1_000;
/** A look lists all nodes. */
const lookMs = 5 * 60_000;

/** What tells a part of the ranges. @throws ApiError */
type Source = (client: Asked) => Promise<readonly string[]>;

const sources: Readonly<Record<string, Source>> = {
  'the server’s address': async ({ serverHost }) => {
    // By way of a proxy this machine may not know the name.
    const found = await lookup(serverHost, { all: true }).catch(() => []);
    return found.map(({ address }) => address);
  },
  servicecidrs: async (client) => {
    try {
      return await serviceRangesOf(client, 'v1');
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 404)) throw error;
      // Before Kubernetes 1.33, where it is switched on.
      return serviceRangesOf(client, 'v1beta1');
    }
  },
  // The one that API servers themselves keep: others of that Service may be anybody's who may write there.
  'endpointslices of default/kubernetes': async (client) => {
    const slice = await client.find<EndpointSlice>(
      objectPath(resources.endpointSlices, 'default', 'kubernetes'),
    );
    return slice === null ? [] : endpointRanges(slice);
  },
  nodes: async (client) => {
    const found = new Set<string>();
    for await (const node of client.list<Node>(collectionPath(resources.nodes, null))) {
      nodeRanges(node).forEach((each) => found.add(each));
    }
    return [...found];
  },
};

async function serviceRangesOf(client: Asked, version: string): Promise<string[]> {
  const found = new Set<string>();
  for await (const cidr of client.list<ServiceCidr>(
    `${groupPath(`networking.k8s.io/${version}`)}/servicecidrs`,
  )) {
    serviceRanges(cidr).forEach((each) => found.add(each));
  }
  return [...found];
}

export class ClusterGuard implements Guarding {
  private readonly found = new Map<string, readonly string[]>();
  private readonly untold = new Set<string>();
  private current: Guarding;
  private timer: NodeJS.Timeout | null = null;
  private looking: Promise<boolean> | null = null;

  constructor(private readonly options: ClusterGuardOptions) {
    this.current = guardedBy(options.rules);
  }

  get rules(): EndpointRules {
    return this.current.rules;
  }

  get guard(): AddressGuard {
    return this.current.guard;
  }

  /** Settles when each source has answered, if only that the operator may not ask: before, too much would be allowed. */
  async start(signal: AbortSignal): Promise<void> {
    while (!(await this.look())) {
      await sleep(retryMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
    }
    if (signal.aborted) return;
    this.timer = setInterval(() => void this.look(), this.options.intervalMs ?? lookMs);
  }

  stop(): void {
    if (this.timer !== null) clearInterval(this.timer);
  }

  /** @returns whether each source has answered; never throws */
  private look(): Promise<boolean> {
    this.looking ??= this.ask().finally(() => (this.looking = null));
    return this.looking;
  }

  private async ask(): Promise<boolean> {
    const answered = await Promise.all(
      Object.entries(sources).map(([name, source]) => this.askOne(name, source)),
    );
    const { allowed, refused } = this.options.rules;
    const all = [...new Set([...refused, ...[...this.found.values()].flat()])];
    if (all.join() !== this.rules.refused.join()) this.current = guardedBy({ allowed, refused: all });
    return answered.every(Boolean);
  }

  private async askOne(name: string, source: Source): Promise<boolean> {
    const { client, logger } = this.options;
    try {
      this.found.set(name, await source(client));
      this.untold.delete(name);
      return true;
    } catch (error) {
      if (!(error instanceof ApiError && [403, 404].includes(error.status))) return false;
      if (!this.untold.has(name)) {
        logger.warn(
          'public addresses of the cluster’s own are refused as endpoints only where they are named',
          {
            source: name,
            error: error.message,
            remedy: 'name them in endpoints.refused of the chart (--refuse-endpoint)',
          },
        );
      }
      this.untold.add(name);
      return true;
    }
  }
}
