// The public route by istio: a VirtualService for the host and the API's paths, and a DestinationRule for the way to
// the pods. A stream lasts as long as it lasts, and no generation is begun twice.

import { ports } from '@llmservice/crds';
import type { WantedService } from '../../spec/parse-spec.js';
import type { KubeObject } from '../../kube/types.js';
import { childMetadata } from '../identity/child-metadata.js';
import { fallbackHeaders, fallbackHost } from './fallback.js';
import { publicPaths, type PublicPath } from './public-paths.js';
import { routeMetadata } from './route-metadata.js';
import type { Gateway } from './routing.js';

const apiVersion = 'networking.istio.io/v1';

/** @param fallback the service that the route leads to instead; null: to its own */
export function planIstioRoute(
  service: WantedService,
  host: string,
  gateway: Gateway,
  fallback: string | null,
): KubeObject[] {
  return [planVirtualService(service, host, gateway, fallback), planDestinationRule(service)];
}

/** In full, since a short name is looked up in the namespace of who reads it. */
function serviceHost({ name, namespace }: Pick<WantedService, 'name' | 'namespace'>): string {
  return `${name}.${namespace}.svc.cluster.local`;
}

function planVirtualService(
  service: WantedService,
  host: string,
  gateway: Gateway,
  fallback: string | null,
): KubeObject {
  const { pathPrefix = '' } = service.spec.routing;
  const target = { name: fallback ?? service.name, namespace: service.namespace };
  const destination = { host: serviceHost(target), port: { number: ports.service } };
  const authority = fallback === null ? {} : { authority: fallbackHost(service, fallback) };
  return {
    apiVersion,
    kind: 'VirtualService',
    metadata: routeMetadata(service, fallback),
    spec: {
      hosts: [host],
      gateways: [`${gateway.namespace}/${gateway.name}`],
      http: publicPaths.map((path) => ({
        name: path.value.slice(1),
        match: [{ uri: uriMatch(pathPrefix, path) }],
        ...rewriteTo({ ...(pathPrefix === '' ? {} : { uri: pathOf(path) }), ...authority }),
        ...(fallback === null ? {} : { headers: headersFor(service, fallback) }),
        route: [{ destination }],
        // No timeout: none is the default, and 0s is refused by istio's schema. Retries are on unless they are zero.
        retries: { attempts: 0 },
      })),
    },
  };
}

function rewriteTo(rewrite: object): object {
  return Object.keys(rewrite).length === 0 ? {} : { rewrite };
}

function headersFor(service: WantedService, fallback: string): object {
  const { request, response } = fallbackHeaders(service, fallback);
  return { request: { set: request }, response: { set: response } };
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
