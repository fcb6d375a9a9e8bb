// Whether the route of a service leads to an InferencePool, whose endpoint picker chooses the pod, or to its Service, and why.
// It leads to the Service unless the operator, the cluster, the gateway and the picker can all do the other: an InferencePool
// that one of them lacks is never worth a failed request.

import { annotations, timestamp } from '@llmservice/crds';
import type { WantedService } from '../../domain/wanted-service.js';
import { controllerUid } from '../../kube/controller-uid.js';
import { resources } from '../../kube/resources.js';
import type { Deployment, HttpRoute, KubeObject } from '../../kube/types.js';
import { endpointPickerName } from '../identity/child-identity.js';
import { askedAgainAt, complaintOf, refusalsOn, refusedAgain, type Refusals } from './pool-refusal.js';
import type { Routing } from './routing.js';

export type Pool =
  /** Nobody asked for one, or there is no route to lead to it. */
  | { readonly state: 'none' }
  /** There can be none. */
  | { readonly state: 'unfit'; readonly reason: string; readonly message: string }
  /** The gateway took the route to the pool for wrong; `recheckMs`: until it is asked again, absent: not by itself. */
  | {
      readonly state: 'refused';
      readonly retry: string;
      readonly message: string;
      readonly refusals?: Refusals;
      readonly recheckMs?: number;
    }
  /** The pool and its picker are to be there; `leads`: the picker answers, so that the route leads to the pool. */
  | {
      readonly state: 'planned';
      readonly image: string;
      readonly leads: boolean;
      readonly refusals?: Refusals;
    };

export interface PoolCapabilities {
  /** Null: the operator was installed without. */
  readonly endpointPickerImage: string | null;
  /** Whether the cluster knows InferencePool. */
  readonly inferencePools: boolean;
  readonly forbidden?: readonly string[];
}

export interface PoolInputs {
  readonly service: WantedService;
  readonly routing: Routing;
  readonly capabilities: PoolCapabilities;
  /** By the service's name; null: there is none. */
  readonly pool: KubeObject | null;
  /** The Deployment by the picker's name; null: there is none. */
  readonly picker: Deployment | null;
  /** The Service by the picker's name, which the gateway asks; null: there is none. */
  readonly pickerService: KubeObject | null;
  /** As it is now; null: there is none. */
  readonly route: HttpRoute | null;
  /** RFC 3339. */
  readonly now: string;
}

export function planPool(inputs: PoolInputs): Pool {
  const { service, routing, capabilities, pool, picker, pickerService, route, now } = inputs;
  if (service.spec.routing.backend !== 'inferencePool' || routing.state !== 'planned')
    return { state: 'none' };
  const { endpointPickerImage: image, inferencePools, forbidden = [] } = capabilities;
  if (routing.gateway.provider === 'istio') {
    return unfit(
      'InferencePoolUnroutable',
      'a VirtualService cannot lead to an InferencePool. Install the operator with gateway.name and gateway.namespace, ' +
        'or set routing.backend to service.',
    );
  }
  if (image === null) {
    return unfit(
      'EndpointPickerNotConfigured',
      'the operator was installed without an endpoint picker. Set endpointPicker.image of its chart ' +
        '(--endpoint-picker-image), or set routing.backend to service.',
    );
  }
  if (!inferencePools) {
    return forbidden.includes(resources.inferencePools.plural)
      ? unfit(
          'InferencePoolForbidden',
          'the operator may not list and watch inferencepools. Give its role these rights, as its chart does.',
        )
      : unfit(
          'InferencePoolMissing',
          'the cluster has no InferencePool (inference.networking.k8s.io/v1). Install the CRDs of the Gateway API ' +
            'Inference Extension, or set routing.backend to service.',
        );
  }
  const { retry } = service;
  const complaint = complaintOf(route, routing.gateway.name);
  const before = refusalsOn(route);
  if (complaint !== null)
    return refused(retry, ` (${complaint.said})`, complaint.mayPass ? refusedAgain(before, now) : null, now);
  const isHeld = route?.metadata.annotations?.[annotations.poolRefused] === retry;
  const isDue = before !== null && askedAgainAt(before).getTime() <= Date.parse(now);
  if (isHeld && !isDue) return refused(retry, '', before, now);
  // Somebody else's may have their names. The Service of a stranger would get to read prompts.
  const isOwn = [pool, picker, pickerService].every(
    (each) => each !== null && controllerUid(each) === service.uid,
  );
  const leads = isOwn && (picker?.status?.readyReplicas ?? 0) > 0;
  return { state: 'planned', image, leads, ...(before === null ? {} : { refusals: before }) };
}

function refused(retry: string, said: string, refusals: Refusals | null, now: string): Pool {
  const at = refusals === null ? null : askedAgainAt(refusals);
  const when = at === null ? '' : `It is asked again at ${timestamp(at)}. `;
  const message =
    `The gateway leads no route to an InferencePool${said}, and requests go to the Service. ${when}Use a gateway of the ` +
    `Gateway API Inference Extension and then change the annotation ${annotations.retry}, or set routing.backend to service.`;
  const again =
    refusals === null || at === null
      ? {}
      : { refusals, recheckMs: Math.max(0, at.getTime() - Date.parse(now)) };
  return { state: 'refused', retry, message, ...again };
}

function unfit(reason: string, why: string): Pool {
  return { state: 'unfit', reason, message: `Requests go to the Service: ${why}` };
}

/** What is said of it beside a route that was taken; null: nothing. */
export function poolRemark(pool: Pool, service: string): { reason: string; message: string } | null {
  switch (pool.state) {
    case 'none':
      return null;
    case 'unfit':
      return { reason: pool.reason, message: pool.message };
    case 'refused':
      return { reason: 'InferencePoolRefused', message: pool.message };
    case 'planned':
      return pool.leads
        ? {
            reason: 'InferencePool',
            message: `Completions go to the pod that its endpoint picker ${endpointPickerName(service)} chooses.`,
          }
        : {
            reason: 'EndpointPickerPending',
            message:
              `Requests go to the Service until its InferencePool is there and a pod of ${endpointPickerName(service)}, its ` +
              'endpoint picker, is ready. See the other conditions, and the events and logs of that pod.',
          };
  }
}
