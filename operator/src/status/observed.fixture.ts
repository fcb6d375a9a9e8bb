// What is observed of a service without pods, pods for it, and what a condition comes to by it.

import { annotations } from '@llmservice/crds';
import type { ContainerStatus, Pod } from '../kube/types.js';
import { idleDemand } from '../plan/scaling/demand.js';
import { buildStatus } from './build-status.js';
import type { Observed } from './observed.js';

export const base: Observed = {
  namespace: 'ns',
  name: 'demo',
  generation: 2,
  previous: {},
  now: '2026-01-01T00:00:00Z',
  modelName: 'demo',
  serviceClass: { state: 'none' } as const,
  wantedReplicas: 1,
  demand: idleDemand,
  autoscaling: { state: 'off' },
  scraped: { state: 'unknown' },
  autoscaler: null,
  stopped: false,
  sleep: { state: 'never' },
  resolution: { state: 'resolved' },
  fit: { state: 'unmeasured' },
  scheme: 'http',
  activatorAuthorities: null,
  routing: { state: 'none' },
  obstacle: null,
  failureHold: null,
  revision: 'new',
  selector: 'a=b',
  deployment: null,
  pods: [],
  workers: [],
  groupLosses: [],
  prefill: null,
  httpRoute: null,
  backendTlsPolicy: null,
  virtualService: null,
  fallback: { state: 'none' },
  canary: { state: 'off' },
  pool: { state: 'none' },
  streaming: { state: 'noRoute' },
  loads: new Map(),
  adapters: [],
  refusedAdapters: [],
  adapterReports: new Map(),
};

interface PodChange {
  readonly revision?: string;
  readonly ready?: boolean;
  readonly scheduled?: string;
  readonly container?: Partial<ContainerStatus>;
  readonly deleted?: boolean;
}

export function pod(name: string, change: PodChange = {}): Pod {
  const { revision = 'new', ready = false, scheduled, container = {}, deleted = false } = change;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      annotations: { [annotations.revision]: revision },
      ...(deleted ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}),
    },
    status: {
      conditions: [
        scheduled === undefined
          ? { type: 'PodScheduled', status: 'True' }
          : { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: scheduled },
        { type: 'Ready', status: ready ? 'True' : 'False' },
      ],
      containerStatuses: [{ name: 'runtime', ready, restartCount: 0, state: { running: {} }, ...container }],
    },
  };
}

export const ended = (exitCode: number, message: string, reason?: string): PodChange => ({
  container: {
    lastState: { terminated: { exitCode, message, ...(reason === undefined ? {} : { reason }) } },
  },
});

/** "status reason" of a condition. */
export function verdict(change: Partial<Observed>, type: string): string {
  const found = buildStatus({ ...base, ...change }).conditions?.find((each) => each.type === type);
  return `${found?.status ?? 'absent'} ${found?.reason ?? ''}`;
}
