// The public route of a gateway, by the Gateway API or by istio: one host, the API's paths, no time limit, no second try.

import type { KubeObject } from '../../kube/types.js';
import { ports } from '@llmservice/crds';
import { httpRouteObject } from '../traffic/http-route-object.js';
import { publicPaths } from '../traffic/public-paths.js';
import type { PlannedRouting } from '../traffic/routing.js';

interface Metadata {
  readonly name: string;
  readonly namespace: string;
}

/** @param metadata of the gateway's objects, its Service among them */
export function planGatewayRoute(metadata: Metadata, { host, gateway }: PlannedRouting): KubeObject[] {
  const { name, namespace } = metadata;
  if (gateway.provider === 'gatewayApi') {
    const backend = { group: '', kind: 'Service', name, port: ports.service, weight: 1 };
    const rule = {
      matches: publicPaths.map(({ type, value }) => ({ path: { type, value } })),
      backendRefs: [backend],
      timeouts: { request: '0s' },
    };
    return [httpRouteObject({ metadata, host, gateway }, [rule])];
  }
  // In full, since a short name is looked up in the namespace of who reads it.
  const service = `${name}.${namespace}.svc.cluster.local`;
  const apiVersion = 'networking.istio.io/v1';
  return [
    {
      apiVersion,
      kind: 'VirtualService',
      metadata,
      spec: {
        hosts: [host],
        gateways: [`${gateway.namespace}/${gateway.name}`],
        http: publicPaths.map(({ type, value }) => ({
          name: value.slice(1),
          // istio compares characters and not segments: a prefix has to end where a segment does.
          match: [{ uri: type === 'Exact' ? { exact: value } : { prefix: `${value}/` } }],
          route: [{ destination: { host: service, port: { number: ports.service } } }],
          // Retries are on unless they are zero.
          retries: { attempts: 0 },
        })),
      },
    },
    {
      apiVersion,
      kind: 'DestinationRule',
      metadata,
      spec: {
        host: service,
        trafficPolicy: {
          loadBalancer: { simple: 'LEAST_REQUEST' },
          connectionPool: {
            tcp: { tcpKeepalive: { time: '60s', interval: '30s' } },
            http: { h2UpgradePolicy: 'DO_NOT_UPGRADE' },
          },
        },
      },
    },
  ];
}
