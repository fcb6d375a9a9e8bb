// Checks public routes alongside the reconciles, a few at a time: a route once it carries requests, one that keeps events
// back every ten minutes until it does no more, and what cannot be reached again and again with growing pauses.

import type { KubeClient } from '../kube/client.js';
import { objectPath, resources } from '../kube/resources.js';
import { contentHash } from '../domain/content-hash.js';
import { gatewayEntrance, type GatewayObject } from '../plan/traffic/gateway-entrance.js';
import type { PlannedRouting, RouteGateway } from '../plan/traffic/routing.js';
import { judgeArrivals, type StreamOutcome } from '../plan/traffic/stream-check.js';
import { askStream } from './ask-stream.js';
import { backoffMs, type BackoffLimits } from '@llmservice/crds';

export interface StreamChecksOptions {
  readonly client: Pick<KubeClient, 'find'>;
  /** Where public routes are entered, as a URL without a path; null: where the Gateway says. */
  readonly publicAddress: string | null;
  /** Called with the service's key when there is an outcome. */
  readonly onChange: (key: string) => void;
  /** Between looks: the first one grows up to the most. */
  readonly pauses?: BackoffLimits;
}

interface Check {
  readonly route: string;
  outcome: StreamOutcome | null;
  failures: number;
  /** Monotonic; null: it is under way, or waits for its turn. */
  nextAt: number | null;
}

const maxAtOnce = 16;
/** Many routes may be checked at once: they share a look at their Gateway. */
const freshMs = 5_000;
/** Our own machine may hold events back too, for a moment. */
const attempts = 3;

export class StreamChecks {
  private readonly checks = new Map<string, Check>();
  private readonly waiting: (() => Promise<void>)[] = [];
  private running = 0;
  private seen: { readonly at: number; readonly gateway: Promise<GatewayObject | null> } | null = null;

  constructor(private readonly options: StreamChecksOptions) {}

  /** Hash of what the route is made from, by which one that was checked is known, and what the last look found. */
  of(
    key: string,
    routing: PlannedRouting,
  ): { readonly route: string; readonly outcome: StreamOutcome | null } {
    const route = this.hash(routing);
    const check = this.checks.get(key);
    return { route, outcome: check?.route === route ? check.outcome : null };
  }

  forget(key: string): void {
    this.checks.delete(key);
  }

  /** Checks a route, if it is time. @returns when to come again; null: the outcome will be notified */
  want(key: string, routing: PlannedRouting): number | null {
    const route = this.hash(routing);
    let check = this.checks.get(key);
    if (check?.route !== route) {
      check = { route, outcome: null, failures: 0, nextAt: 0 };
      this.checks.set(key, check);
    }
    if (check.nextAt === null) return null;
    const leftMs = check.nextAt - performance.now();
    if (leftMs > 0) return leftMs;
    const started = check;
    started.nextAt = null;
    this.waiting.push(() => this.run(key, started, routing));
    this.next();
    return null;
  }

  private next(): void {
    if (this.running >= maxAtOnce) return;
    const run = this.waiting.shift();
    if (run === undefined) return;
    this.running += 1;
    void run().finally(() => {
      this.running -= 1;
      this.next();
    });
  }

  private hash({ host, pathPrefix, gateway }: PlannedRouting): string {
    return contentHash({ host, pathPrefix, gateway, publicAddress: this.options.publicAddress });
  }

  private async run(key: string, check: Check, routing: PlannedRouting): Promise<void> {
    check.outcome = await this.look(key, routing);
    const { firstMs, maxMs } = this.options.pauses ?? { firstMs: 2_000, maxMs: 600_000 };
    check.failures = check.outcome.state === 'failed' ? check.failures + 1 : 0;
    const pauseMs = check.failures > 0 ? backoffMs(check.failures, { firstMs, maxMs }) : maxMs;
    check.nextAt = performance.now() + pauseMs;
    this.options.onChange(key);
  }

  /** Never throws. */
  private async look(service: string, { host, pathPrefix, gateway }: PlannedRouting): Promise<StreamOutcome> {
    let entrance: string | null = null;
    try {
      entrance = await this.entrance(gateway, host);
      if (entrance === null) return { state: 'failed', message: unknownEntrance(gateway) };
      for (let attempt = 1; ; attempt += 1) {
        const outcome = judgeArrivals(await askStream(entrance, { host, pathPrefix, service }));
        if (outcome.state === 'streams' || attempt === attempts) return outcome;
      }
    } catch (error) {
      const { message } = error as Error;
      return { state: 'failed', message: entrance === null ? message : `At ${entrance}: ${message}.` };
    }
  }

  private async entrance({ provider, namespace, name }: RouteGateway, host: string): Promise<string | null> {
    const { client, publicAddress } = this.options;
    if (publicAddress !== null) return publicAddress;
    if (provider === 'istio') return null;
    const at = performance.now();
    if (this.seen === null || at - this.seen.at > freshMs) {
      this.seen = { at, gateway: client.find(objectPath(resources.gateways, namespace, name)) };
    }
    // There is one: the operator's.
    const gateway = await this.seen.gateway;
    return gateway === null ? null : gatewayEntrance(gateway, host);
  }
}

function unknownEntrance({ provider, namespace, name }: RouteGateway): string {
  const where = `${namespace}/${name}`;
  return provider === 'istio'
    ? `Where ${where} of istio is entered is not known. Install the operator with publicAddress.`
    : `Gateway ${where} has no address, or no listener for the host. Give it one, or set the operator's publicAddress.`;
}
