// The public route: one host, the API's paths, no time limit (a stream lasts as long as it lasts).

import { ports } from '@llmservice/crds';
import type { WantedService } from '../spec/parse-spec.js';
import type { KubeObject } from '../kube/types.js';
import { childMetadata } from './child-metadata.js';

/** The Gateway that carries the routes of this operator's services. */
export interface Gateway {
  readonly name: string;
  readonly namespace: string;
}

/** What is public. Metrics and probes are for the cluster's own eyes. */
const publicPaths = [
  { type: 'PathPrefix', value: '/v1' },
  { type: 'PathPrefix', value: '/openai' },
  { type: 'Exact', value: '/health' },
];

export function planHttpRoute(service: WantedService, host: string, gateway: Gateway): KubeObject {
  return {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'HTTPRoute',
    metadata: childMetadata(service, service.name),
    spec: {
      parentRefs: [
        {
          group: 'gateway.networking.k8s.io',
          kind: 'Gateway',
          name: gateway.name,
          namespace: gateway.namespace,
        },
      ],
      hostnames: [host],
      rules: [
        {
          matches: publicPaths.map((path) => ({ path })),
          backendRefs: [{ group: '', kind: 'Service', name: service.name, port: ports.service, weight: 1 }],
          timeouts: { request: '0s' },
        },
      ],
    },
  };
}
