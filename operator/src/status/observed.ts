// Everything that a status is made from, gathered by the reconciler: what was wanted, what was planned, what is seen.

import type { AdapterReport, LastFailure, ListedAdapter, LlmServiceStatus } from '@llmservice/crds';
import type { RefusedAdapter } from '../domain/checkpoint.js';
import type { ServiceClass } from '../domain/service-class.js';
import type { Fit, Obstacle, Resolution } from '../domain/plan-outcome.js';
import type {
  Autoscaler,
  BackendTlsPolicy,
  Deployment,
  HttpRoute,
  Pod,
  VirtualService,
} from '../kube/types.js';
import type { Scheme } from '../plan/pods/container-parts.js';
import type { Autoscaling } from '../plan/scaling/autoscaling.js';
import type { Demand } from '../plan/scaling/demand.js';
import type { Canary } from '../plan/canary/canary.js';
import type { Fallback } from '../plan/traffic/fallback.js';
import type { Pool } from '../plan/traffic/pool.js';
import type { Idleness } from '../plan/scaling/idleness.js';
import type { Sleep } from '../plan/scaling/sleep.js';
import type { Routing } from '../plan/traffic/routing.js';
import type { StreamOutcome } from '../plan/traffic/stream-check.js';
import type { PodFailure } from './pod-state.js';
import type { PrefillPods } from './prefill-status.js';

/** Progress as a pod's /health reports it. */
export interface LoadProgress {
  readonly phase: 'pull' | 'load' | 'warmup';
  readonly bytesDone: number;
  readonly bytesTotal: number;
  readonly bytesPerSecond: number | null;
  readonly etaSeconds: number | null;
  /** Shapes of the warm-up; null before it. */
  readonly warmup: { readonly done: number; readonly total: number } | null;
}

/** What was given up, and what became of the pods. */
export interface FailureHold {
  readonly failure: LastFailure;
  readonly outcome: 'stopped' | 'rolledBack';
}

/** What is known of the public route's pace. */
export type Streaming =
  | { readonly state: 'noRoute' }
  /** What answers has no events of a known pace. */
  | { readonly state: 'unpaced' }
  /** `route`: its hash; `outcome`: of the last look; null: none is known. */
  | { readonly state: 'route'; readonly route: string; readonly outcome: StreamOutcome | null };

/** The pod of a group that was lost first, for which the group starts again. */
export interface GroupLoss {
  /** Name of the leader's pod. */
  readonly group: string;
  readonly pod: string;
  /** 0: the leader itself. */
  readonly worker: number;
  readonly revision: string | null;
  /** Null: it was deleted, or ended without an error. */
  readonly failure: PodFailure | null;
  readonly how: 'deleted' | 'ended';
  /** How often in a row a pod of the group failed, without an answer between. */
  readonly failures: number;
}

export interface Observed {
  readonly namespace: string;
  readonly name: string;
  readonly generation: number;
  readonly previous: LlmServiceStatus;
  /** RFC 3339, to the second. */
  readonly now: string;
  readonly modelName: string;
  readonly serviceClass: ServiceClass;
  /** By the spec, schedules and the budget and, asleep, 0. */
  readonly wantedReplicas: number;
  readonly demand: Omit<Demand, 'replicas'>;
  readonly autoscaling: Autoscaling;
  /** What pods' metrics reported last, where they are asked. */
  readonly scraped: Idleness;
  readonly sleep: Sleep;
  /** By spec.stop. */
  readonly stopped: boolean;
  readonly resolution: Resolution;
  readonly fit: Fit;
  readonly scheme: Scheme;
  /** In PEM, by what the activator verifies the pods; null: it has not to, or cannot. */
  readonly activatorAuthorities: string | null;
  readonly routing: Routing;
  readonly obstacle: Obstacle | null;
  /** The failure after which this generation is not tried any more. */
  readonly failureHold: FailureHold | null;
  /** Hash of the pod template that this generation wants; null where it could not be planned. */
  readonly revision: string | null;
  readonly selector: string;
  readonly deployment: Deployment | null;
  /** One of each replica, which answers for it. */
  readonly pods: readonly Pod[];
  /** Of groups: those that compute for their leaders. */
  readonly workers: readonly Pod[];
  /** Of its groups that start again: which pod was lost. */
  readonly groupLosses: readonly GroupLoss[];
  /** Null: there are to be none. */
  readonly prefill: PrefillPods | null;
  readonly httpRoute: HttpRoute | null;
  readonly backendTlsPolicy: BackendTlsPolicy | null;
  readonly virtualService: VirtualService | null;
  readonly fallback: Fallback;
  readonly canary: Canary;
  readonly pool: Pool;
  readonly streaming: Streaming;
  /** The object that scales it by load. */
  readonly autoscaler: Autoscaler | null;
  /** By pod name. */
  readonly loads: ReadonlyMap<string, LoadProgress>;
  /** As the list of the pods has them. */
  readonly adapters: readonly ListedAdapter[];
  /** Of the spec's list, those that cannot be served. */
  readonly refusedAdapters: readonly RefusedAdapter[];
  /** By pod name. */
  readonly adapterReports: ReadonlyMap<string, AdapterReport>;
}
