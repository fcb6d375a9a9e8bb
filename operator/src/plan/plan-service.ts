// From a wanted service and what the preflight says to what is to be applied: children, or the reason why none.

import type { Checkpoint, PreflightState, RefusedAdapter } from '../domain/checkpoint.js';
import type { Fit, Obstacle, Resolution } from '../domain/plan-outcome.js';
import type { WantedService } from '../domain/wanted-service.js';
import { planAutoscaling, type Autoscaling, type AutoscalingCapabilities } from './scaling/autoscaling.js';
import { asEstimate } from './fit/estimate.js';
import { planFit } from './fit/memory.js';
import { refusedClaim } from './claim-modes.js';
import { refusedDeviceClaim } from './device-claims-served.js';
import { refusedGroups } from './groups-served.js';
import { refusedImage, refusedServiceAccount, type TenantLimits } from './tenant-limits.js';
import type { PoolCapabilities } from './traffic/pool.js';
import { planRouting, type Routing, type RoutingCapabilities } from './traffic/routing.js';

/** By kind of device; null: the operator was installed without. */
interface Images {
  readonly cpu: string | null;
  readonly cuda: string | null;
  readonly hip: string | null;
}

/** What the operator was installed with, and what the cluster offers. */
export interface ClusterCapabilities extends RoutingCapabilities, AutoscalingCapabilities, PoolCapabilities {
  /** Of our runtime. */
  readonly images: Images;
  readonly vllmImages: Images;
  /** The operator's own, which prepares folders of nodes. Null: it is not set. */
  readonly operatorImage: string | null;
  /** Folders of nodes that services may keep weights in, each namespace in a folder of its own. */
  readonly allowedHostPaths: readonly string[];
  /** Whether ResourceClaims are served, by which devices may be asked for. */
  readonly deviceClaims: boolean;
  /** Whether LeaderWorkerSets are served, which replicas on several nodes take. */
  readonly leaderWorkerSets: boolean;
  /** What else manifests may name. */
  readonly limits: TenantLimits;
}

/** Of these, what the operator was installed with. */
export type Installation = Omit<
  ClusterCapabilities,
  | 'gatewayApi'
  | 'backendTls'
  | 'istio'
  | 'destinationRules'
  | 'keda'
  | 'inferencePools'
  | 'customMetrics'
  | 'deviceClaims'
  | 'leaderWorkerSets'
  | 'forbidden'
  | 'hostTaken'
  | 'authority'
>;

/** What the children are made from once everything about them is known. */
interface Groundwork {
  readonly image: string;
  /** Of our runtime, where it pulls for another engine; else null. */
  readonly pullImage: string | null;
  readonly operatorImage: string | null;
  readonly checkpoint: Checkpoint;
}

export interface ServicePlan {
  readonly resolution: Resolution;
  readonly fit: Fit;
  readonly routing: Routing;
  /** What an InferencePool depends on. */
  readonly pooling: PoolCapabilities;
  readonly autoscaling: Autoscaling;
  readonly obstacle: Obstacle | null;
  /** Of the checkpoint, where it is known. */
  readonly fingerprint: string | null;
  /** The one that the first releases gave it. */
  readonly firstFingerprint: string | null;
  /** The one of the former release. */
  readonly formerFingerprint: string | null;
  /** Of the spec's list; empty too where nothing was judged. */
  readonly refusedAdapters: readonly RefusedAdapter[];
  /** Null: no pods can be planned. */
  readonly groundwork: Groundwork | null;
}

export function planService(
  service: WantedService,
  preflight: PreflightState,
  capabilities: ClusterCapabilities,
): ServicePlan {
  const routing = planRouting(service, capabilities);
  const pooling: PoolCapabilities = capabilities;
  const autoscaling = planAutoscaling(service, capabilities);
  const resolution = resolutionOf(preflight);
  const checkpoint = preflight.state === 'resolved' ? preflight.checkpoint : knownCheckpoint(preflight);
  if (checkpoint === null) {
    const unknown = {
      fingerprint: null,
      firstFingerprint: null,
      formerFingerprint: null,
      refusedAdapters: [],
    };
    const nothing = { obstacle: null, ...unknown, groundwork: null };
    return { resolution, fit: { state: 'unresolved' }, routing, pooling, autoscaling, ...nothing };
  }
  const fit = planFitOf(service, checkpoint);
  const images = planImages(service, capabilities);
  const obstacle =
    'reason' in images
      ? images
      : (refusedByLimits(service, capabilities) ?? refusedClaim(service, checkpoint.claim));
  const groundwork =
    fit.state === 'failed' || 'reason' in images || obstacle !== null
      ? null
      : { ...images, operatorImage: capabilities.operatorImage, checkpoint };
  const { fingerprint, firstFingerprint = fingerprint, formerFingerprint = fingerprint } = checkpoint;
  const { refusedAdapters = [] } = checkpoint;
  const known = { fingerprint, firstFingerprint, formerFingerprint, refusedAdapters };
  return { resolution, fit, routing, pooling, autoscaling, obstacle, ...known, groundwork };
}

/** An engine that is not ours is judged by what ours would take, where that is known. */
function planFitOf(service: WantedService, { model, weightBytes, claim }: Checkpoint): Fit {
  if (claim !== undefined) return { state: 'byPods' };
  const planned = model === null ? null : planFit(service, model);
  if (service.spec.engine.runtime === 'vllm') return asEstimate(service, weightBytes, planned);
  return planned ?? { state: 'unmeasured' };
}

function planImages(
  { spec, accelerator }: WantedService,
  { images, vllmImages }: ClusterCapabilities,
): Pick<Groundwork, 'image' | 'pullImage'> | Obstacle {
  const { kind } = accelerator;
  if (spec.engine.runtime === 'native') {
    const image = spec.engine.image ?? images[kind];
    return image === null ? noImage('runtime', accelerator) : { image, pullImage: null };
  }
  const image = spec.engine.image ?? vllmImages[kind];
  if (image === null) return noImage('vllm', accelerator);
  // Any of ours can pull; the one without a device is the smallest.
  const pullImage = images.cpu ?? images[kind];
  return pullImage === null ? noPullImage : { image, pullImage };
}

function refusedByLimits(service: WantedService, capabilities: ClusterCapabilities): Obstacle | null {
  const { images, vllmImages, limits } = capabilities;
  const own = [images, vllmImages].flatMap(({ cpu, cuda, hip }) => [cpu, cuda, hip]);
  return (
    refusedImage(service, limits, own) ??
    refusedServiceAccount(service, limits) ??
    refusedHostPath(service, capabilities) ??
    refusedDeviceClaim(service, capabilities) ??
    refusedGroups(service, capabilities)
  );
}

/**
 * A folder of the node is beyond what a namespace's owner may decide alone. What is allowed is compared whole: a part of
 * the path that a tenant chose could be a link that another of its pods made.
 */
function refusedHostPath(
  { cache }: WantedService,
  { allowedHostPaths, operatorImage }: ClusterCapabilities,
): Obstacle | null {
  if (cache?.kind !== 'hostPath') return null;
  if (allowedHostPaths.includes(cache.path)) return operatorImage === null ? noOperatorImage : null;
  const allowed = allowedHostPaths.length === 0 ? 'none' : allowedHostPaths.join(', ');
  return {
    reason: 'HostPathNotAllowed',
    message:
      `spec.model.cache.path ${cache.path} is none of the folders of nodes that the operator allows (${allowed}). ` +
      `Set one of these, install the operator with --allow-host-path=${cache.path} (allowHostPaths of its chart), ` +
      'or use kind pvc.',
    terminal: true,
  };
}

function resolutionOf(preflight: PreflightState): Resolution {
  if (preflight.state === 'reading') return preflight;
  if (preflight.state !== 'resolved') return { state: preflight.state, failure: preflight.failure };
  const { note, claim } = preflight.checkpoint;
  if (claim !== undefined) return { state: 'byPods', found: claim.found };
  return { state: 'resolved', ...(note === undefined ? {} : { note }) };
}

function knownCheckpoint(preflight: PreflightState): Checkpoint | null {
  return preflight.state === 'unavailable' ? preflight.known : null;
}

function noImage(
  of: 'runtime' | 'vllm',
  { kind, resourceName, claim }: WantedService['accelerator'],
): Obstacle {
  const flag = { cpu: 'cpu', cuda: 'cuda', hip: 'rocm' }[kind];
  return {
    reason: 'RuntimeImageMissing',
    message:
      `The operator was installed without a ${of} image for ${resourceName ?? (claim === null ? 'the CPU' : `the devices of the claim (${kind})`)}. ` +
      `Set its --${of}-image-${flag} or spec.engine.image.`,
    terminal: true,
  };
}

const noPullImage: Obstacle = {
  reason: 'RuntimeImageMissing',
  message:
    'The operator was installed without the runtime image that pulls weights for vLLM. Set its --runtime-image-cpu.',
  terminal: true,
};

const noOperatorImage: Obstacle = {
  reason: 'RuntimeImageMissing',
  message:
    'The operator was installed without the name of its own image, which prepares folders of nodes. ' +
    'Set its --operator-image, or use spec.model.cache of kind pvc.',
  terminal: true,
};
