// Routed: whether the gateway's controller has taken the service's route, as far as it reports.

import type { BackendTlsPolicy, ObjectCondition, VirtualService } from '../kube/types.js';
import { poolRemark } from '../plan/traffic/pool.js';
import type { Gateway, PlannedRouting } from '../plan/traffic/routing.js';
import { no, unknown, yes, type Answer } from './answer.js';
import type { Observed } from './observed.js';
import { isReady } from './pod-state.js';

/** With a fallback, what becomes of it is reported too; one that cannot stand in matters once it would have to. */
export function judgeRoute(observed: Observed): Answer {
  const { fallback, routing, pods, sleep } = observed;
  const judged = judgeOwnRoute(observed);
  const isAsked = fallback.state !== 'active' && questionAlone(observed);
  const taken = isAsked && routing.state === 'planned' ? forwarded(routing.host) : judged;
  if (routing.state !== 'planned' || taken.status !== 'True') return taken;
  if (fallback.state === 'unfit') {
    const { reason, message } = fallback;
    return pods.some(isReady) || sleep.state === 'asleep'
      ? yes(reason, `${taken.message} ${message}`)
      : no(reason, message);
  }
  if (fallback.state !== 'active') {
    const remark = poolRemark(observed.pool, observed.name);
    return remark === null ? taken : yes(remark.reason, `${taken.message} ${remark.message}`);
  }
  const { service, answers } = fallback;
  return yes(
    'Fallback',
    `Requests for ${routing.host} go to ${service} until a pod answers.` +
      (answers ? '' : ` But ${service} does not answer now: see its own conditions.`),
  );
}

/** Whether what the gateway has against the route is about the rule that asks for an InferencePool, which no request meets. */
function questionAlone({ pool, routing, httpRoute: route }: Observed): boolean {
  if (pool.state !== 'planned' || pool.awaits !== 'gateway' || pool.said === undefined) return false;
  const name = routing.state === 'planned' ? routing.gateway.name : '';
  const parent = route?.status?.parents?.find(({ parentRef }) => parentRef.name === name);
  return parent?.conditions?.find(({ type }) => type === 'Accepted')?.status === 'True';
}

function forwarded(host: string): Answer {
  return yes('Accepted', `The gateway forwards ${host}.`);
}

/** What of a service or a gateway its route is judged by. */
type OfRoute = Pick<
  Observed,
  | 'routing'
  | 'name'
  | 'namespace'
  | 'virtualService'
  | 'httpRoute'
  | 'backendTlsPolicy'
  | 'scheme'
  | 'fallback'
>;

export function judgeOwnRoute(observed: OfRoute): Answer {
  const { routing, name, namespace } = observed;
  switch (routing.state) {
    case 'none':
      return yes('ClusterOnly', `The service answers at ${name}.${namespace}.svc, inside the cluster only.`);
    case 'noGateway':
      return no(
        'GatewayNotConfigured',
        `No gateway carries ${routing.host}. ${gatewayRemedy[routing.provider]}`,
      );
    case 'hostRefused':
      return no(
        'HostNotAllowed',
        `The namespace ${namespace} may not have the host ${routing.host}; it may have ${routing.allowed}. Choose such a ` +
          'host, or have the administrator change routing.hosts of the operator’s chart (--allow-route-host).',
      );
    case 'hostTaken':
      return no(
        'HostTaken',
        `Another service has the host ${routing.host}, or paths of it that this one asks for, and keeps it. Choose ` +
          'another host or routing.pathPrefix, or remove the other service.',
      );
    case 'noApi':
      if (routing.forbidden.length > 0) {
        return no(
          'RouteForbidden',
          `The operator may not list and watch ${routing.forbidden.join(', ')}. Give its role these rights, as its chart does.`,
        );
      }
      return routing.provider === 'istio'
        ? no(
            'IstioMissing',
            `The cluster has no VirtualService (networking.istio.io/v1) for ${routing.host}. Install istio.`,
          )
        : no(
            'GatewayApiMissing',
            `The cluster has no HTTPRoute (gateway.networking.k8s.io/v1) for ${routing.host}. Install the Gateway API.`,
          );
    case 'noBackendTls':
      return routing.forbidden
        ? no(
            'RouteForbidden',
            'The operator may not list and watch backendtlspolicies. Give its role these rights, as its chart does.',
          )
        : no(
            'BackendTlsPolicyMissing',
            `The pods speak HTTPS, and the cluster has no BackendTLSPolicy (gateway.networking.k8s.io/v1) by which the ` +
              `gateway of ${routing.host} could verify them. Install the Gateway API 1.4 or newer.`,
          );
    case 'noAuthority':
      return no(
        'CertificateAuthorityMissing',
        `The gateway cannot verify the pods for ${routing.host}: ${routing.message} Make the ConfigMap that ` +
          'spec.tls.caConfigMapRef names, with the authorities of the pods’ certificate; deploy/docs/tls.md says how.',
      );
    case 'planned':
      return routing.gateway.provider === 'istio'
        ? judgeVirtualService(observed.virtualService, routing.host)
        : judgeHttpRoute(observed, routing);
  }
}

const gatewayRemedy = {
  auto: 'Install the operator with gateway.name and gateway.namespace, or with istio.gateway.',
  gatewayApi: 'Install the operator with gateway.name and gateway.namespace.',
  istio: 'Install the operator with istio.gateway.',
};

function judgeHttpRoute(
  { httpRoute: route, backendTlsPolicy: policy, scheme, namespace, fallback }: OfRoute,
  { host, gateway }: PlannedRouting,
): Answer {
  const parent = route?.status?.parents?.find(
    ({ parentRef }) =>
      parentRef.name === gateway.name && (parentRef.namespace ?? namespace) === gateway.namespace,
  );
  if (parent === undefined) return waiting(`${gateway.namespace}/${gateway.name}`);
  const taken = judgeParent(parent.conditions ?? [], route?.metadata.generation ?? 0, host);
  // A policy is judged where a route leads to the pods.
  return taken.status === 'True' && scheme === 'https' && fallback.state !== 'active'
    ? (judgePolicy(policy, namespace, gateway) ?? taken)
    : taken;
}

/** Null: the gateway verifies the pods. What it has no BackendTLSPolicy for it asks by plain HTTP. */
function judgePolicy(policy: BackendTlsPolicy | null, namespace: string, gateway: Gateway): Answer | null {
  const { conditions = [] } =
    policy?.status?.ancestors?.find(
      ({ ancestorRef: { name, namespace: own = namespace } }) =>
        name === gateway.name && own === gateway.namespace,
    ) ?? {};
  const accepted = conditions.find(({ type }) => type === 'Accepted');
  const generation = policy?.metadata.generation ?? 0;
  if (accepted === undefined || (accepted.observedGeneration ?? generation) < generation) {
    return unknown(
      'RoutePending',
      'The gateway has not judged the BackendTLSPolicy by which it verifies the pods. Check that its controller knows the kind.',
    );
  }
  const refused = conditions.find(
    ({ type, status }) => (type === 'Accepted' || type === 'ResolvedRefs') && status !== 'True',
  );
  if (refused === undefined) return null;
  return no(
    refused.reason ?? 'RouteRefused',
    `The gateway refuses the BackendTLSPolicy of the pods: ${refused.message ?? 'no message'}. Check the ConfigMap ` +
      'that spec.tls.caConfigMapRef names.',
  );
}

/** istio answers with complaints alone, and with those only where it is configured to. */
function judgeVirtualService(route: VirtualService | null, host: string): Answer {
  if (route === null) return unknown('RoutePending', `The VirtualService of ${host} is not there yet.`);
  const complaint = route.status?.validationMessages?.find(({ level }) => level === 'ERROR');
  if (complaint === undefined) {
    return yes(
      'Applied',
      `istio has the route of ${host}; whether its gateway takes it, it does not report.`,
    );
  }
  const { type = {}, documentationUrl = 'istioctl analyze' } = complaint;
  return no(
    'RouteRefused',
    `istio refuses the route of ${host}: ${type.name ?? 'no name'} ${type.code ?? ''}. See ${documentationUrl}.`,
  );
}

function judgeParent(conditions: readonly ObjectCondition[], generation: number, host: string): Answer {
  for (const type of ['Accepted', 'ResolvedRefs']) {
    const condition = conditions.find((each) => each.type === type);
    if (condition === undefined || (condition.observedGeneration ?? generation) < generation) {
      return unknown('RoutePending', `The gateway has not judged the route of ${host} yet.`);
    }
    if (condition.status !== 'True') {
      return no(
        condition.reason ?? 'RouteRefused',
        `The gateway refuses the route of ${host}: ${condition.message ?? 'no message'}. Check its listeners.`,
      );
    }
  }
  return forwarded(host);
}

function waiting(gateway: string): Answer {
  return unknown(
    'RoutePending',
    `Gateway ${gateway} has not answered. Check that it exists and that its controller runs.`,
  );
}
