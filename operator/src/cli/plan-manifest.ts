// One manifest through the operator's own planning: spec, preflight, memory plan, children. The operator's parts do the
// thinking; this file orders them and gathers what they say.

import { validTensorParallel, type MemoryPlan, type RoughEstimate } from '@llmservice/checkpoint';
import type { FailureReason, ListedAdapter } from '@llmservice/crds';
import { keyOf } from '../kube/resources.js';
import type { KubeObject } from '../kube/types.js';
import { planChildren, type ChildInputs } from '../plan/children.js';
import type { Checkpoint, PlannedCheckpoint, PreflightResult } from '../domain/checkpoint.js';
import type { WantedService } from '../domain/wanted-service.js';
import { planService, type ServicePlan } from '../plan/plan-service.js';
import { wantedReplicas } from '../plan/scaling/wanted-replicas.js';
import { planAdapterList } from '../plan/pods/adapter-list.js';
import { listedAdapters } from '../plan/pods/listed-adapters.js';
import { planTemplate } from '../plan/pods/planned-template.js';
import type { Gateway } from '../plan/traffic/routing.js';
import type { CheckpointSource, Preflight } from '../preflight/preflight.js';
import { classResolved } from '../status/class-condition.js';
import { fits, modelResolved } from '../status/conditions.js';
import { changesOf, type ObjectChange } from './changes.js';
import type { Cluster } from './cluster.js';
import { withCanary } from './canary-objects.js';
import { podShares, type PodShares } from './pod-share.js';
import { costOf, type Cost } from './cost.js';
import { disruptionOf, type Disruption } from './disruption.js';
import { estimateOf } from './estimate.js';
import { capabilitiesFor, liveOf, poolOf } from './live-service.js';
import { type Verdict } from './exit-codes.js';
import type { Manifest } from './read-manifests.js';
import { invalid, resolveManifest } from './resolve-manifest.js';

export interface PlanSettings {
  readonly preflight: Pick<Preflight, 'resolve'>;
  readonly places: CheckpointSource;
  /** Null: nothing is compared. */
  readonly cluster: Cluster | null;
  /** Of the same manifests. */
  readonly classes: readonly Manifest[];
  readonly image: string | null;
  readonly gateway: Gateway | null;
  readonly pricePerDeviceHour: number | null;
  readonly meanTokens: number;
}

export interface PlanReport extends PodShares {
  readonly service: string;
  readonly source: string;
  readonly verdict: Verdict;
  /** Of the model alone, whatever becomes of its adapters. */
  readonly modelVerdict: Verdict;
  /** Why, and what can be done about it. */
  readonly message: string;
  /** What its class gives; null: it names none. */
  readonly serviceClass: string | null;
  readonly accelerator: (WantedService['accelerator'] & Pick<WantedService, 'nodes' | 'podRanks'>) | null;
  readonly checkpoint: CheckpointSummary | null;
  /** Without them the rest is served, as `memoryPlan` has it. */
  readonly refusedAdapters: readonly NamedRefusal[];
  /** Of a checkpoint that could not be judged, by its size alone. */
  readonly estimate: RoughEstimate | null;
  /** Of one rank. */
  readonly memoryPlan: MemoryPlan | null;
  readonly cost: Cost | null;
  readonly disruption: Disruption | null;
  readonly objects: readonly KubeObject[];
  /** Null: not compared. */
  readonly changes: readonly ObjectChange[] | null;
}

interface NamedRefusal {
  readonly name: string;
  readonly uri: string;
  readonly reason: FailureReason;
  readonly message: string;
}

interface CheckpointSummary {
  readonly architecture: string;
  readonly quantization: string;
  readonly fileBytes: number;
  /** Numbers of ranks that divide it. */
  readonly tensorParallel: readonly number[];
}

/** In a NetworkPolicy, which lets the operator in. */
const unknownNamespace = 'NAMESPACE-OF-THE-OPERATOR';

/** @throws ClusterError */
export async function planManifest(manifest: Manifest, settings: PlanSettings): Promise<PlanReport> {
  const { cluster } = settings;
  const live = cluster === null ? undefined : await liveOf(manifest.object, cluster);
  const { uid = '', generation = 0 } = live?.service?.metadata ?? {};
  const object = { ...manifest.object, metadata: { ...manifest.object.metadata, uid, generation } };
  const resolved = await resolveManifest(object, live?.service ?? null, settings);
  if (!('service' in resolved)) return { ...nothing(manifest), ...resolved };
  const refusal = (await cluster?.refusal(manifest.object)) ?? null;
  if (refusal !== null) return { ...nothing(manifest), ...invalid(refusal) };

  const { service } = resolved;
  const result = await settings.preflight.resolve(keyOf(manifest.object), service);
  const plan = planService(service, result, await capabilitiesFor(service, settings, live));
  const report = {
    ...nothing(manifest),
    ...judged(plan, result),
    refusedAdapters: plan.refusedAdapters.map(({ at, uri, failure: { reason, message } }) => {
      const name = service.adapters[at]?.name ?? '';
      return { name, uri, reason, message };
    }),
    serviceClass: classResolved(service.serviceClass)?.message ?? null,
    accelerator: { ...service.accelerator, nodes: service.nodes, podRanks: service.podRanks },
    ...(result.state === 'resolved' ? plannedMemory(service, result.checkpoint, plan, settings) : {}),
    ...(result.state === 'failed' ? { estimate: await estimateOf(service, settings.places) } : {}),
  };
  if (plan.groundwork === null) return report;
  const template = planTemplate(service, {
    image: plan.groundwork.image,
    pullImage: plan.groundwork.pullImage,
    operatorImage: plan.groundwork.operatorImage,
    size: plan.groundwork.checkpoint,
    memoryPlan: plan.fit.state === 'fits' ? plan.fit.plan : null,
    pins: plan.groundwork.checkpoint.pins ?? null,
  });
  const { strategy } = service.spec.rollout;
  const replacement =
    (await cluster?.replacement(service, template, live?.deployment ?? null)) ??
    (strategy === 'Auto' ? null : strategy === 'Surge' ? 'surge' : 'drain');
  const list = (await cluster?.live(planAdapterList(service, []))) ?? null;
  const adapters = listedAdapters(service.adapters, plan.refusedAdapters, list);
  const { replicas, canary } = service.spec;
  const disruption = disruptionOf(
    {
      ...{ revision: template.revision, replicas, replacement },
      ...{ isTried: canary !== undefined, groupSize: service.nodes },
    },
    live?.deployment,
  );
  const pool = poolOf(service, plan, live?.pool);
  const planned = objectsOf(service, plan, { template, adapters, replacement: replacement ?? 'surge', pool });
  const objects =
    canary === undefined ? planned : withCanary(service, planned, template, disruption, live !== undefined);
  return {
    ...report,
    disruption,
    ...podShares(service),
    objects,
    changes: cluster === null ? null : await changesOf([manifest.object, ...objects], cluster),
  };
}

function nothing({ source, object }: Manifest): Omit<PlanReport, keyof Judgement> {
  return {
    ...{ service: keyOf(object), source, serviceClass: null, accelerator: null },
    ...{ checkpoint: null, refusedAdapters: [] },
    ...{ estimate: null, memoryPlan: null, cost: null, disruption: null, canary: null, prefill: null },
    ...{ objects: [], changes: null },
  };
}

/** What one would have to read, find or be allowed to before anything could be said. */
const unreadable: readonly string[] = [
  ...['ModelNotFound', 'BucketNotFound', 'S3AccessDenied', 'S3Unavailable'],
  ...['S3RegionMismatch', 'S3CertificateUntrusted'],
  ...['RepositoryNotFound', 'HubAccessDenied', 'HubUnavailable', 'HubCertificateUntrusted'],
  'ClaimNotFound',
  ...['ArtifactNotFound', 'RegistryAccessDenied', 'RegistryUnavailable', 'RegistryCertificateUntrusted'],
  ...['ListNotFound', 'ListAccessDenied', 'ListUnavailable', 'ListCertificateUntrusted'],
];

type Judgement = Pick<PlanReport, 'verdict' | 'modelVerdict' | 'message'>;

/** Adapters decide only where nothing stands in the way of the model that they are for. */
function judged(plan: ServicePlan, result: PreflightResult): Judgement {
  const model = judgedModel(plan, result);
  const modelVerdict = model.verdict;
  const { refusedAdapters } = plan;
  const mayServe = modelVerdict === 'fits' || modelVerdict === 'unmeasured';
  if (refusedAdapters.length === 0 || !mayServe) return { ...model, modelVerdict };
  const isAway = refusedAdapters.every(({ failure }) => unreadable.includes(failure.reason));
  return { verdict: isAway ? 'unreadable' : 'refused', modelVerdict, message: model.message };
}

function judgedModel(
  { resolution, fit }: ServicePlan,
  result: PreflightResult,
): Pick<PlanReport, 'verdict' | 'message'> {
  if (result.state !== 'resolved') {
    const verdict = unreadable.includes(result.failure.reason) ? 'unreadable' : 'refused';
    return { verdict, message: modelResolved({ resolution }).message };
  }
  const { message } = fits({ fit });
  if (fit.state === 'fits') return { verdict: 'fits', message };
  const isOpen = fit.state === 'unmeasured' || fit.state === 'byPods';
  return { verdict: isOpen ? 'unmeasured' : 'refused', message };
}

function plannedMemory(
  service: WantedService,
  { model, fileBytes }: Checkpoint,
  { fit }: ServicePlan,
  { pricePerDeviceHour, meanTokens }: PlanSettings,
): Pick<PlanReport, 'checkpoint' | 'memoryPlan' | 'cost'> {
  const plan = fit.state === 'fits' ? fit.plan : null;
  return {
    checkpoint: model === null ? null : summaryOf(model, fileBytes),
    memoryPlan: plan,
    cost:
      plan === null || model === null || pricePerDeviceHour === null
        ? null
        : costOf({ service, ...model, plan, pricePerDeviceHour, meanTokens }),
  };
}

function summaryOf({ shape, weights }: PlannedCheckpoint, fileBytes: number): CheckpointSummary {
  const { architecture, quantization } = shape;
  return { architecture, quantization, fileBytes, tensorParallel: validTensorParallel(shape, weights) };
}

/** As the reconciler makes them of a service that did not fail before. */
function objectsOf(
  service: WantedService,
  { routing, autoscaling }: ServicePlan,
  decided: Pick<ChildInputs, 'template' | 'replacement' | 'pool'> & { adapters: readonly ListedAdapter[] },
): KubeObject[] {
  const { adapterList, configMap, claimTemplates, groupServices, deployment, others } = planChildren(
    service,
    {
      ...decided,
      replicas: wantedReplicas(service),
      failedAttempt: null,
      goodRevision: null,
      asleep: null,
      activators: null,
      autoscaler: autoscaling.state === 'planned' ? autoscaling.autoscaler : null,
      gateway: routing.state === 'planned' ? routing.gateway : null,
      fallback: { state: 'none' },
      canary: { state: 'off' },
      canaryTemplate: null,
      operatorNamespace: unknownNamespace,
    },
  );
  const lists = adapterList === null ? [] : [adapterList];
  return [...lists, configMap, ...claimTemplates, ...groupServices, deployment, ...others];
}
