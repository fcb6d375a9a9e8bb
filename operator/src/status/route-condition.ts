// Routed: whether the gateway's controller has taken the service's route.

import type { ObjectCondition } from '../kube/types.js';
import { no, unknown, yes, type Answer } from './answer.js';
import type { Picture } from './picture.js';

export function judgeRoute({ routing, route, name, namespace }: Picture): Answer {
  switch (routing.state) {
    case 'none':
      return yes(
        'ClusterOnly',
        `No host was asked for; the service answers at ${name}.${namespace}.svc inside the cluster.`,
      );
    case 'noGateway':
      return no(
        'GatewayNotConfigured',
        `No gateway carries ${routing.host}. Install the operator with gateway.name and gateway.namespace.`,
      );
    case 'noApi':
      return no(
        'GatewayApiMissing',
        `The cluster has no HTTPRoute (gateway.networking.k8s.io/v1) for ${routing.host}. Install the Gateway API.`,
      );
    case 'planned': {
      const { gateway } = routing;
      const parent = route?.status?.parents?.find(
        ({ parentRef }) =>
          parentRef.name === gateway.name && (parentRef.namespace ?? namespace) === gateway.namespace,
      );
      if (parent === undefined) return waiting(`${gateway.namespace}/${gateway.name}`);
      return judgeParent(parent.conditions ?? [], route?.metadata.generation ?? 0, routing.host);
    }
  }
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
  return yes('Accepted', `The gateway forwards ${host}.`);
}

function waiting(gateway: string): Answer {
  return unknown(
    'RoutePending',
    `Gateway ${gateway} has not answered. Check that it exists and that its controller runs.`,
  );
}
