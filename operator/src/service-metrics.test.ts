import { expect, test } from '@jest/globals';
import { Registry } from 'prom-client';
import type { KubeObject, Pod } from './kube/types.js';
import { ServiceMetrics } from './service-metrics.js';

const metadata = { name: 'chat', namespace: 'team' };
const at = (time: string) => new Date(`2026-11-10T${time}Z`);
const pod = (since: string, gpus?: string): Pod =>
  ({
    metadata: { name: 'chat-1' },
    spec: {
      nodeName: 'n',
      containers:
        gpus === undefined ? [] : [{ name: 'runtime', resources: { requests: { 'nvidia.com/gpu': gpus } } }],
    },
    status: {
      conditions: [{ type: 'PodScheduled', status: 'True', lastTransitionTime: `2026-11-10T${since}Z` }],
    },
  }) as unknown as Pod;

interface World {
  services: KubeObject[];
  pods: Pod[];
  prefillPods?: Pod[];
  /** Names of the Deployments that were read. */
  asked?: string[];
  now: Date;
}

function scraped(world: World, prices: readonly (readonly [string, number])[] = []) {
  const registry = new Registry();
  const watched = {
    llmServices: { values: () => world.services },
    podsOf: () => world.pods,
    prefillPodsOf: () => world.prefillPods ?? [],
    deployment: (_: string, name: string) => {
      world.asked?.push(name);
      return { spec: { replicas: 2 } };
    },
  };
  const configured = { perHour: new Map(prices), currency: 'EUR' };
  // A standby, which takes over after ten days.
  let now = (): Date => new Date(+world.now - 10 * 86_400_000);
  const metrics = new ServiceMetrics(registry, watched, configured, () => now());
  now = () => world.now;
  metrics.beginLeading();
  return async (): Promise<string[]> =>
    (await registry.metrics())
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .sort();
}

const service = (spec: object, status: object = {}): KubeObject => ({
  ...{ apiVersion: 'llmservice.dev/v1alpha1', kind: 'LlmService' },
  ...{ metadata, spec, status },
});
const ready = { type: 'Ready', status: 'False', reason: 'ReplicasStarting' };
const of = 'namespace="team",service="chat"';

test('each service has its state, its devices and their price by profile', async () => {
  const spec = { accelerator: { profile: 'h100', resourceName: 'none', devices: 8 } };
  const services = [service(spec, { conditions: [ready], readyReplicas: 1 })];
  const world = { services, pods: [pod('11:00:00', '8')], now: at('12:00:00') };
  const scrape = scraped(world, [['h100', 2.5]]);
  world.now = at('12:00:30');
  expect(await scrape()).toEqual([
    `llmservice_device_hour_price{${of},currency="EUR"} 2.5`,
    `llmservice_device_seconds_total{${of},device="h100"} 240`,
    `llmservice_service_devices{${of},device="h100"} 8`,
    `llmservice_service_ready{${of},reason="ReplicasStarting"} 0`,
    `llmservice_service_replicas_ready{${of}} 1`,
    `llmservice_service_replicas_wanted{${of}} 2`,
  ]);
});

test('devices of prefill pods are the service’s', async () => {
  const services = [service({ accelerator: { profile: 'h100', resourceName: 'none', devices: 8 } })];
  const prefillPods = [pod('11:00:00', '8'), pod('11:30:00', '8')];
  const world = { services, pods: [pod('11:00:00', '8')], prefillPods, now: at('12:00:00') };
  expect(await scraped(world)()).toContain(`llmservice_service_devices{${of},device="h100"} 24`);
});

test('of prefill pods it has those that are wanted and ready, where the service has any', async () => {
  const services = [service({ disaggregation: {} }, { prefill: { replicas: 2, ready: 1 } })];
  const asked: string[] = [];
  const lines = await scraped({ services, pods: [], now: at('12:00:00'), asked })();
  expect(lines).toContain(`llmservice_service_prefill_wanted{${of}} 2`);
  expect(lines).toContain(`llmservice_service_prefill_ready{${of}} 1`);
  expect(asked).toContain('chat-prefill');
  const without = await scraped({ services: [service({})], pods: [], now: at('12:00:00') })();
  expect(without.join()).not.toContain('prefill');
});

test('it has why a route leads where it does', async () => {
  const routed = { type: 'Routed', status: 'True', reason: 'EndpointPickerPending' };
  const world = { services: [service({}, { conditions: [ready, routed] })], pods: [], now: at('12:00:00') };
  expect(await scraped(world)()).toContain(
    `llmservice_service_routed{${of},reason="EndpointPickerPending"} 1`,
  );
});

test('a budget names its price, and how much of it is taken', async () => {
  const budget = { costPerMonth: '100', costPerDeviceHour: '2', currency: 'USD' };
  const status = { budget: { deviceSeconds: 25 * 3600 } };
  const world = { services: [service({ budget }, status)], pods: [pod('11:59:00')], now: at('12:00:00') };
  const lines = await scraped(world, [['cpu', 1]])();
  expect(lines).toContain(`llmservice_service_budget_used_ratio{${of}} 0.5`);
  expect(lines).toContain(`llmservice_device_hour_price{${of},currency="USD"} 2`);
  // Without resources of its pods it is on the CPU, and has one device unless it says otherwise.
  expect(lines).toContain(`llmservice_service_devices{${of},device="cpu"} 1`);
  expect(lines).toContain(`llmservice_service_ready{${of},reason="Pending"} 0`);
});

test('a service that is gone has no series', async () => {
  const world: World = { services: [service({})], pods: [], now: at('12:00:00') };
  const scrape = scraped(world);
  expect(await scrape()).not.toEqual([]);
  world.services = [];
  expect(await scrape()).toEqual([]);
});
