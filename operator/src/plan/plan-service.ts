// From a wanted service and what the preflight says to what is to be applied: children, or the reason why none.

import type { WantedService } from '../spec/parse-spec.js';
import type { Checkpoint, PreflightResult } from '../preflight/preflight.js';
import type { Fit, Obstacle, Resolution, Routing } from '../status/picture.js';
import type { Gateway } from './http-route.js';
import { planFit } from './memory.js';

/** What the operator was installed with, and what the cluster offers. */
export interface Surroundings {
  readonly images: { readonly cpu: string | null; readonly cuda: string | null; readonly hip: string | null };
  readonly gateway: Gateway | null;
  /** Whether the cluster knows HTTPRoute. */
  readonly gatewayApi: boolean;
}

/** What the children are made from once everything about them is known. */
interface Groundwork {
  readonly image: string;
  readonly checkpoint: Checkpoint;
}

export interface ServicePlan {
  readonly resolution: Resolution;
  readonly fit: Fit;
  readonly routing: Routing;
  readonly obstacle: Obstacle | null;
  /** Of the checkpoint, where it is known. */
  readonly fingerprint: string | null;
  /** Null: no pods can be planned. */
  readonly groundwork: Groundwork | null;
}

export function planService(
  service: WantedService,
  preflight: PreflightResult,
  surroundings: Surroundings,
): ServicePlan {
  const routing = planRouting(service, surroundings);
  const resolution = resolutionOf(preflight);
  const checkpoint = preflight.state === 'resolved' ? preflight.checkpoint : knownCheckpoint(preflight);
  if (checkpoint === null) {
    const nothing = { obstacle: null, fingerprint: null, groundwork: null };
    return { resolution, fit: { state: 'unresolved' }, routing, ...nothing };
  }
  const fit = planFit(service, checkpoint);
  const image = service.spec.engine.image ?? surroundings.images[service.accelerator.kind];
  const obstacle = image === null ? noImage(service) : null;
  const groundwork = fit.state === 'failed' || image === null ? null : { image, checkpoint };
  return { resolution, fit, routing, obstacle, fingerprint: checkpoint.fingerprint, groundwork };
}

function resolutionOf(preflight: PreflightResult): Resolution {
  return preflight.state === 'resolved'
    ? { state: 'resolved' }
    : { state: preflight.state, failure: preflight.failure };
}

function knownCheckpoint(preflight: PreflightResult): Checkpoint | null {
  return preflight.state === 'unavailable' ? preflight.known : null;
}

export function planRouting(
  { spec }: Pick<WantedService, 'spec'>,
  { gateway, gatewayApi }: Surroundings,
): Routing {
  const { host } = spec.routing;
  if (host === undefined) return { state: 'none' };
  if (gateway === null) return { state: 'noGateway', host };
  return gatewayApi ? { state: 'planned', host, gateway } : { state: 'noApi', host };
}

function noImage({ accelerator }: WantedService): Obstacle {
  const flag = { cpu: 'cpu', cuda: 'cuda', hip: 'rocm' }[accelerator.kind];
  return {
    reason: 'RuntimeImageMissing',
    message:
      `The operator was installed without a runtime image for ${accelerator.resourceName ?? 'the CPU'}. ` +
      `Set its --runtime-image-${flag} or spec.engine.image.`,
    terminal: true,
  };
}
