// Whether the route of a service leads to an InferencePool, whose endpoint picker chooses the pod, or to its Service, and why.
// It leads to the Service unless the operator, the cluster, the gateway and the picker can all do the other: an InferencePool
// that one of them lacks is never worth a failed request. So the gateway is asked first, by a rule that no request meets.

import { annotations, timestamp } from '@llmservice/crds';
import type { WantedService } from '../../domain/wanted-service.js';
import { controllerUid } from '../../kube/controller-uid.js';
import { resources } from '../../kube/resources.js';
import type { Deployment, HttpRoute, KubeObject } from '../../kube/types.js';
import { endpointPickerName } from '../identity/child-identity.js';
import { askedAgainAt, complaintOf, refusalsOn, refusedAgain, type Refusals } from './pool-refusal.js';
import { gatewayTakes, leadsToPool, madeByIstio } from './pool-route.js';
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
  /** The pool and its picker are to be there. */
  | {
      readonly state: 'planned';
      readonly image: string;
      /** What the route waits for before it leads to the pool; null: it does. From `gateway` on, the gateway is asked. */
      readonly awaits: 'pool' | 'picker' | 'gateway' | null;
      /** What the gateway says as long as it does not take the pool; null: nothing. */
      readonly said?: string;
      /** istio's gateways would speak plain text to the picker, which does not understand it. */
      readonly byIstio: boolean;
      readonly refusals?: Refusals;
    };

export interface PoolCapabilities {
  /** Null: the operator was installed without. */
  readonly endpointPickerImage: string | null;
  /** Whether the cluster knows InferencePool. */
  readonly inferencePools: boolean;
  /** Whether it knows DestinationRule, by which istio's gateways speak TLS to a picker. */
  readonly destinationRules: boolean;
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
  /** The DestinationRule by the picker's name; null: there is none. */
  readonly pickerRule: KubeObject | null;
  /** As it is now; null: there is none. */
  readonly route: HttpRoute | null;
  /** RFC 3339. */
  readonly now: string;
}

export function planPool(inputs: PoolInputs): Pool {
  const { service, routing, capabilities, pool, picker, pickerService, pickerRule, route, now } = inputs;
  if (service.spec.routing.backend !== 'inferencePool' || routing.state !== 'planned')
    return { state: 'none' };
  const { endpointPickerImage: image, inferencePools, destinationRules, forbidden = [] } = capabilities;
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
  const byIstio = madeByIstio(route, routing.gateway.name);
  if (byIstio && !destinationRules) {
    return forbidden.includes(resources.destinationRules.plural)
      ? unfit(
          'DestinationRuleForbidden',
          'the gateway is istio’s, and the operator may not list and watch destinationrules, by which it speaks TLS to the ' +
            'endpoint picker. Give its role these rights, as its chart does.',
        )
      : unfit(
          'DestinationRuleMissing',
          'the gateway is istio’s, and the cluster has no DestinationRule (networking.istio.io/v1), by which it speaks TLS ' +
            'to the endpoint picker. Install the CRDs of istio, or set routing.backend to service.',
        );
  }
  const { retry } = service;
  const complaint = complaintOf(route, routing.gateway.name);
  const before = refusalsOn(route);
  const led = leadsToPool(route);
  // While nothing but the question leads to the pool, what may pass costs no request.
  if (complaint !== null && (led || !complaint.mayPass))
    return refused(retry, ` (${complaint.said})`, complaint.mayPass ? refusedAgain(before, now) : null, now);
  const isHeld = route?.metadata.annotations?.[annotations.poolRefused] === retry;
  const isDue = before !== null && askedAgainAt(before).getTime() <= Date.parse(now);
  if (isHeld && !isDue) return refused(retry, '', before, now);
  // Somebody else's may have their names. The Service of a stranger would get to read prompts.
  const isOwned = (each: KubeObject | null): boolean => each !== null && controllerUid(each) === service.uid;
  const isOwn = [pool, picker, pickerService].every(isOwned);
  const takes = led || gatewayTakes(route, routing.gateway.name);
  const isReady = (picker?.status?.readyReplicas ?? 0) > 0 && (!byIstio || isOwned(pickerRule));
  return {
    state: 'planned',
    image,
    awaits: !isOwn ? 'pool' : !takes ? 'gateway' : isReady ? null : 'picker',
    ...(complaint === null ? {} : { said: complaint.said }),
    byIstio,
    ...(before === null ? {} : { refusals: before }),
  };
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
      return remarkOf(pool, endpointPickerName(service));
  }
}

function remarkOf(
  { awaits, said }: Pool & { state: 'planned' },
  picker: string,
): { reason: string; message: string } {
  switch (awaits) {
    case null:
      return {
        reason: 'InferencePool',
        message: `Completions go to the pod that its endpoint picker ${picker} chooses.`,
      };
    case 'gateway':
      return {
        reason: 'InferencePoolUnanswered',
        message:
          'Requests go to the Service until the gateway says that it leads requests to the InferencePool ' +
          (said === undefined ? '(it says nothing yet).' : `(it says: ${said}).`),
      };
    case 'pool':
    case 'picker':
      return {
        reason: 'EndpointPickerPending',
        message:
          `Requests go to the Service until its InferencePool is there and a pod of ${picker}, its ` +
          'endpoint picker, is ready. See the other conditions, and the events and logs of that pod.',
      };
  }
}
