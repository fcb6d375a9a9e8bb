// The guard of endpoints in a cluster: it knows the cluster's own ranges besides those that its administrator named. They
// are looked up before the first endpoint is read, and from then on every few minutes; what was found once stays refused
// where a later look fails.

import { lookup } from 'node:dns/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'winston';
import { backoffMs } from '@llmservice/crds';
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

const retries = { firstMs: 1_000, maxMs: 60_000 };
/** A look lists all nodes. */
const lookMs = 5 * 60_000;

/** Reads a part of the ranges. @throws ApiError */
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
  private readonly unreadable = new Set<string>();
  private current: Guarding;

  constructor(private readonly options: ClusterGuardOptions) {
    this.current = guardedBy(options.rules);
  }

  get rules(): EndpointRules {
    return this.current.rules;
  }

  get guard(): AddressGuard {
    return this.current.guard;
  }

  /**
   * Looks until the signal aborts. Settles when each source has answered, if only that the operator may not ask: before, too
   * much would be allowed.
   */
  async start(signal: AbortSignal): Promise<void> {
    const follow = ([name, source]: [string, Source]): Promise<void> =>
      new Promise((answered) => void this.follow(name, source, signal, answered));
    await Promise.all(Object.entries(sources).map(follow));
  }

  private async follow(
    name: string,
    source: Source,
    signal: AbortSignal,
    answered: () => void,
  ): Promise<void> {
    let failures = 0;
    while (!signal.aborted) {
      const hasAnswered = await this.ask(name, source);
      failures = hasAnswered ? 0 : failures + 1;
      if (hasAnswered) answered();
      const pauseMs = hasAnswered ? (this.options.intervalMs ?? lookMs) : backoffMs(failures, retries);
      const spread = 1 + Math.random() / 4;
      await sleep(pauseMs * spread, undefined, { signal, ref: false }).catch(() => undefined);
    }
    answered();
  }

  private know(name: string, ranges: readonly string[]): void {
    this.found.set(name, ranges);
    const { allowed, refused } = this.options.rules;
    const all = [...new Set([...refused, ...[...this.found.values()].flat()])];
    if (all.join() !== this.rules.refused.join()) this.current = guardedBy({ allowed, refused: all });
  }

  /** Never throws. @returns whether there was an answer */
  private async ask(name: string, source: Source): Promise<boolean> {
    const { client, logger } = this.options;
    try {
      this.know(name, await source(client));
      this.unreadable.delete(name);
      return true;
    } catch (error) {
      if (!(error instanceof ApiError && [403, 404].includes(error.status))) {
        // The operator begins only once each has answered: who waits for it reads here why.
        logger.warn('a part of the cluster’s ranges could not be looked up; it is asked again', {
          source: name,
          error: (error as Error).message,
        });
        return false;
      }
      if (!this.unreadable.has(name)) {
        logger.warn(
          'public addresses of the cluster’s own are refused as endpoints only where they are named',
          {
            source: name,
            error: error.message,
            remedy: 'name them in endpoints.refused of the chart (--refuse-endpoint)',
          },
        );
      }
      this.unreadable.add(name);
      return true;
    }
  }
}
