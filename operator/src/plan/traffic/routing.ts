// What carries a service's route: by what was asked for, what the cluster knows, and which gateways the operator has.

import type { LlmServiceSpec } from '@llmservice/crds';
import { resources } from '../../kube/resources.js';
import type { PodAuthority } from './pod-authority.js';
import { refusedHost, type RouteHosts } from './route-hosts.js';

/** A Gateway that carries the routes of this operator's services: of the Gateway API, or of istio. */
export interface Gateway {
  readonly name: string;
  readonly namespace: string;
}

export type RouteProvider = 'gatewayApi' | 'istio';

/** Where a route attaches, and by which kind of object. */
export interface RouteGateway extends Gateway {
  readonly provider: RouteProvider;
}

export type Routing =
  | { readonly state: 'none' }
  /** The operator has none of the kind that was asked for. */
  | { readonly state: 'noGateway'; readonly host: string; readonly provider: RouteProvider | 'auto' }
  | {
      readonly state: 'noApi';
      readonly host: string;
      readonly provider: RouteProvider;
      /** Its kinds that the operator may not read; none: the cluster has no such kind. */
      readonly forbidden: readonly string[];
    }
  /** The pods speak HTTPS, and the cluster knows no BackendTLSPolicy or (`forbidden`) the operator may not read it. */
  | { readonly state: 'noBackendTls'; readonly host: string; readonly forbidden: boolean }
  /** The pods speak HTTPS, and there is nothing to verify them by. */
  | { readonly state: 'noAuthority'; readonly host: string; readonly message: string }
  /** The operator's administrator gives it to other namespaces. `allowed`: what this one may have. */
  | { readonly state: 'hostRefused'; readonly host: string; readonly allowed: string }
  | { readonly state: 'hostTaken'; readonly host: string }
  | {
      readonly state: 'planned';
      readonly host: string;
      /** Empty: none. */
      readonly pathPrefix: string;
      readonly gateway: RouteGateway;
    };

export type PlannedRouting = Routing & { readonly state: 'planned' };

export interface RoutingCapabilities {
  readonly gateway: Gateway | null;
  readonly istioGateway: Gateway | null;
  /** Whether the cluster knows HTTPRoute. */
  readonly gatewayApi: boolean;
  /** Whether it knows BackendTLSPolicy. */
  readonly backendTls: boolean;
  /** Whether it knows VirtualService. */
  readonly istio: boolean;
  readonly limits: { readonly routeHosts: readonly RouteHosts[] };
  /** Another service has the host, or a part of it that the service asks for. */
  readonly hostTaken: boolean;
  /** Of the service's own pods. */
  readonly authority: PodAuthority;
  /** Kinds of others that the operator may not read, which count as unknown. */
  readonly forbidden?: readonly string[];
}

const kindsOf: Readonly<Record<RouteProvider, readonly string[]>> = {
  gatewayApi: [resources.httpRoutes.plural],
  istio: [resources.virtualServices.plural, resources.destinationRules.plural],
};

/** Of a service or a gateway. */
interface Routed {
  readonly namespace: string;
  readonly spec: {
    readonly routing: Pick<LlmServiceSpec['routing'], 'host' | 'pathPrefix' | 'provider'>;
    readonly tls: Pick<LlmServiceSpec['tls'], 'secretRef'>;
  };
}

export function planRouting({ namespace, spec }: Routed, capabilities: RoutingCapabilities): Routing {
  const { host, pathPrefix = '', provider } = spec.routing;
  if (host === undefined || provider === 'none') return { state: 'none' };
  const allowed = refusedHost(namespace, host, capabilities.limits.routeHosts);
  if (allowed !== null) return { state: 'hostRefused', host, allowed };
  if (capabilities.hostTaken) return { state: 'hostTaken', host };
  const carriers: readonly { provider: RouteProvider; gateway: Gateway | null; known: boolean }[] = [
    { provider: 'gatewayApi', gateway: capabilities.gateway, known: capabilities.gatewayApi },
    { provider: 'istio', gateway: capabilities.istioGateway, known: capabilities.istio },
  ];
  const asked = carriers.filter((each) => provider === 'auto' || each.provider === provider);
  const withGateway = asked.filter(({ gateway }) => gateway !== null);
  const chosen = withGateway.find(({ known }) => known) ?? withGateway[0];
  if (chosen === undefined || chosen.gateway === null) return { state: 'noGateway', host, provider };
  if (!chosen.known) {
    const kinds = kindsOf[chosen.provider];
    const forbidden = (capabilities.forbidden ?? []).filter((each) => kinds.includes(each));
    return { state: 'noApi', host, provider: chosen.provider, forbidden };
  }
  const blocked = spec.tls.secretRef === undefined ? null : unverified(host, chosen.provider, capabilities);
  if (blocked !== null) return blocked;
  return {
    state: 'planned',
    host,
    pathPrefix,
    gateway: { ...chosen.gateway, provider: chosen.provider },
  };
}

/** Why a gateway cannot speak HTTPS to the pods; null: it can. */
function unverified(
  host: string,
  provider: RouteProvider,
  { authority, backendTls, forbidden = [] }: RoutingCapabilities,
): Routing | null {
  if (provider === 'gatewayApi' && !backendTls) {
    const isForbidden = forbidden.includes(resources.backendTlsPolicies.plural);
    return { state: 'noBackendTls', host, forbidden: isForbidden };
  }
  if (authority.state === 'known') return null;
  const message = authority.state === 'missing' ? authority.message : 'spec.tls.caConfigMapRef is not set.';
  return { state: 'noAuthority', host, message };
}
