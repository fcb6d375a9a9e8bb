// What the leader reports to Prometheus of every service, read at each scrape from what it watches: whether it is ready,
// its replicas, and the devices that its pods hold. For scrapes with honorLabels: the labels name the service, not the operator.

import type { LlmService } from '@llmservice/crds';
import { Counter, Gauge, type Registry } from 'prom-client';
import { deviceOf, priceOf, type DevicePrices } from './device-prices.js';
import { DeviceSeconds } from './device-seconds.js';
import { prefillName } from './kube/prefill-name.js';
import { keyOf } from './kube/resources.js';
import type { Deployment, KubeObject, Pod } from './kube/types.js';
import { budgetSeconds, heldDevices, type HeldDevices } from './plan/scaling/budget.js';

/** What is read of the operator's view of the cluster; it is empty where this process does not lead. */
export interface WatchedServices {
  readonly llmServices: { values(): Iterable<KubeObject> };
  podsOf(namespace: string, service: string): readonly Pod[];
  prefillPodsOf(namespace: string, service: string): readonly Pod[];
  deployment(namespace: string, name: string): Pick<Deployment, 'spec'> | null;
}

const own = ['namespace', 'service'] as const;

export class ServiceMetrics {
  /** Null: this process does not lead yet. */
  private seconds: DeviceSeconds | null = null;

  constructor(
    private readonly registry: Registry,
    private readonly watched: WatchedServices,
    prices: DevicePrices,
    private readonly now: () => Date,
  ) {
    this.gauge(
      'service_ready',
      'Whether the condition Ready holds, with its reason.',
      ['reason'],
      (service) => {
        const { reason, value } = conditionOf(service, 'Ready') ?? { reason: 'Pending', value: 0 };
        return { by: { reason }, value };
      },
    );
    this.gauge('service_replicas_wanted', 'Replicas that the Deployment asks for.', [], ({ metadata }) => ({
      value: watched.deployment(metadata.namespace ?? '', metadata.name)?.spec?.replicas ?? 0,
    }));
    this.gauge('service_replicas_ready', 'Replicas that serve.', [], ({ status }) => ({
      value: status?.readyReplicas ?? 0,
    }));
    this.observePrefill();
    this.gauge(
      'service_routed',
      'Whether the condition Routed holds, with its reason.',
      ['reason'],
      (service) => {
        const routed = conditionOf(service, 'Routed');
        return routed === null ? null : { by: { reason: routed.reason }, value: routed.value };
      },
    );
    this.gauge('service_devices', 'Devices that its pods hold.', ['device'], (service) => ({
      by: { device: deviceOf(service.spec) },
      value: this.held(service).reduce((sum, { devices }) => sum + devices, 0),
    }));
    this.gauge(
      'service_budget_used_ratio',
      'Share of the month’s budget that is taken; 1 and more: it is spent.',
      [],
      ({ spec, status }) => {
        const limit = budgetSeconds(spec.budget ?? {});
        return limit === null ? null : { value: (status?.budget?.deviceSeconds ?? 0) / limit };
      },
    );
    this.gauge(
      'device_hour_price',
      'Price of one device for an hour: of spec.budget, else of the chart’s prices.',
      ['currency'],
      ({ spec }) => {
        const price = priceOf(spec, prices);
        return price === null ? null : { by: { currency: price.currency }, value: price.perHour };
      },
    );
    this.countSeconds();
  }

  /** From now on it counts what pods hold: the leader before counted what they held until then. */
  beginLeading(): void {
    this.seconds = new DeviceSeconds(+this.now());
  }

  /** Of services that have prompts computed by pods of their own. */
  private observePrefill(): void {
    const wanted = ({ metadata: { namespace = '', name } }: Scraped): number | undefined =>
      this.watched.deployment(namespace, prefillName(name))?.spec?.replicas;
    const read = (value: (service: Scraped) => number | undefined) => (service: Scraped) =>
      service.spec.disaggregation === undefined ? null : { value: value(service) ?? 0 };
    this.gauge('service_prefill_wanted', 'Prefill pods that its Deployment asks for.', [], read(wanted));
    this.gauge(
      'service_prefill_ready',
      'Prefill pods that are ready.',
      [],
      read(({ status }) => status?.prefill?.ready),
    );
  }

  private gauge(
    name: string,
    help: string,
    labels: readonly string[],
    read: (service: Scraped) => Read,
  ): void {
    const { watched } = this;
    new Gauge({
      name: `llmservice_${name}`,
      help,
      labelNames: [...own, ...labels],
      registers: [this.registry],
      collect() {
        this.reset();
        for (const service of watched.llmServices.values() as Iterable<Scraped>) {
          const found = read(service);
          if (found !== null) this.set({ ...labelsOf(service), ...found.by }, found.value);
        }
      },
    });
  }

  private countSeconds(): void {
    const count = (service: Scraped): number =>
      this.seconds?.count(keyOf(service), this.held(service), +this.now()) ?? 0;
    const keep = (keys: ReadonlySet<string>): void => this.seconds?.keep(keys);
    const { watched } = this;
    new Counter({
      name: 'llmservice_device_seconds_total',
      help: 'Seconds that pods held a device, from when they were bound to a node, times devices.',
      labelNames: [...own, 'device'],
      registers: [this.registry],
      collect() {
        this.reset();
        const keys = new Set<string>();
        for (const service of watched.llmServices.values() as Iterable<Scraped>) {
          keys.add(keyOf(service));
          this.inc({ ...labelsOf(service), device: deviceOf(service.spec) }, count(service));
        }
        keep(keys);
      },
    });
  }

  private held({ metadata, spec }: Scraped): HeldDevices[] {
    const of = [metadata.namespace ?? '', metadata.name] as const;
    const pods = [...this.watched.podsOf(...of), ...this.watched.prefillPodsOf(...of)];
    return heldDevices(pods, spec.accelerator?.devices ?? 1);
  }
}

/** Null: the service has no such series. */
type Read = { readonly by?: Readonly<Record<string, string>>; readonly value: number } | null;

/** As an older CRD may leave it. */
interface Scraped extends Pick<LlmService, 'status'> {
  readonly metadata: KubeObject['metadata'];
  readonly spec: Partial<LlmService['spec']>;
}

/** Null: the status does not have it yet. */
function conditionOf({ status }: Scraped, wanted: string): { reason: string; value: 0 | 1 } | null {
  const found = status?.conditions?.find(({ type }) => type === wanted);
  return found === undefined ? null : { reason: found.reason, value: found.status === 'True' ? 1 : 0 };
}

function labelsOf({ metadata }: Pick<KubeObject, 'metadata'>): Record<(typeof own)[number], string> {
  return { namespace: metadata.namespace ?? '', service: metadata.name };
}
