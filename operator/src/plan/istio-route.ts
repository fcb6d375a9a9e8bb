// The public route by istio: a VirtualService for the host and the API's paths, and a DestinationRule for the way to the
// pods. A stream lasts as long as it lasts, and no generation is begun twice.

import { ports } from '@llmservice/crds';
import type { WantedService } from '../spec/parse-spec.js';
import type { KubeObject } from '../kube/types.js';
import { childMetadata } from './child-metadata.js';
import { publicPaths, type PublicPath } from './public-paths.js';
import type { Gateway } from './routing.js';

const apiVersion = 'networking.istio.io/v1';

export function planIstioRoute(service: WantedService, host: string, gateway: Gateway): KubeObject[] {
  return [planVirtualService(service, host, gateway), planDestinationRule(service)];
}

/** In full, since a short name is looked up in the namespace of who reads it. */
function serviceHost({ name, namespace }: WantedService): string {
  return `${name}.${namespace}.svc.cluster.local`;
}

function planVirtualService(service: WantedService, host: string, gateway: Gateway): KubeObject {
  const { pathPrefix = '' } = service.spec.routing;
  const destination = { host: serviceHost(service), port: { number: ports.service } };
  return {
    apiVersion,
    kind: 'VirtualService',
    metadata: childMetadata(service, service.name),
    spec: {
      hosts: [host],
      gateways: [`${gateway.namespace}/${gateway.name}`],
      http: publicPaths.map((path) => ({
        name: path.value.slice(1),
        match: [{ uri: uriMatch(pathPrefix, path) }],
        ...(pathPrefix === '' ? {} : { rewrite: { uri: pathOf(path) } }),
        route: [{ destination }],
        // No timeout: none is the default, and 0s is refused by istio's schema. Retries are on unless they are zero.
        retries: { attempts: 0 },
      })),
    },
  };
}

/** istio compares characters and not segments: a prefix has to end where a segment does. */
function pathOf({ type, value }: PublicPath): string {
  return type === 'Exact' ? value : `${value}/`;
}

function uriMatch(pathPrefix: string, path: PublicPath): object {
  const whole = pathPrefix + pathOf(path);
  return path.type === 'Exact' ? { exact: whole } : { prefix: whole };
}

function planDestinationRule(service: WantedService): KubeObject {
  return {
    apiVersion,
    kind: 'DestinationRule',
    metadata: childMetadata(service, service.name),
    spec: {
      host: serviceHost(service),
      trafficPolicy: {
        // Generations differ in length by far more than requests of other services.
        loadBalancer: { simple: 'LEAST_REQUEST' },
        connectionPool: {
          // A model that thinks before its first word sends nothing meanwhile.
          tcp: { tcpKeepalive: { time: '60s', interval: '30s' } },
          http: { h2UpgradePolicy: 'DO_NOT_UPGRADE' },
        },
      },
    },
  };
}
