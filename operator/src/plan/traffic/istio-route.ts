// The public route by istio: a VirtualService for the host and the API's paths, and a DestinationRule for the way to
// the pods. A stream lasts as long as it lasts, and no generation is begun twice.

import type { WantedService } from '../../domain/wanted-service.js';
import type { KubeObject } from '../../kube/types.js';
import { canaryName } from '../../kube/canary-name.js';
import { childMetadata } from '../identity/child-metadata.js';
import { schemeOf, servicePort } from '../pods/container-parts.js';
import { canaryHeader, mirrorFor, weightFor, type CanaryTraffic, type Chosen } from './canary-traffic.js';
import { fallbackHeaders, fallbackHost, type FallbackTarget } from './fallback.js';
import { podHostname } from './pod-authority.js';
import { publicPaths, type PublicPath } from './public-paths.js';
import { routeMetadata } from './route-metadata.js';
import type { Gateway } from './routing.js';

/** What is written of istio's types: client-node has none of it. */
interface Rewrite {
  readonly uri?: string;
  readonly authority?: string;
}

interface Headers {
  readonly request: { readonly set: Readonly<Record<string, string>> };
  readonly response: { readonly set: Readonly<Record<string, string>> };
}

type UriMatch = { readonly exact: string } | { readonly prefix: string };

interface ClientTls {
  readonly mode: 'SIMPLE';
  readonly sni: string;
  readonly subjectAltNames: readonly string[];
  readonly credentialName: string;
}

const apiVersion = 'networking.istio.io/v1';

/** Those with a header first: istio takes the first rule that matches. */
const choices: readonly Chosen[] = ['always', 'never', null];

/**
 * @param fallback the service that the route leads to instead; null: to its own
 * @param canary what a canary gets; null: nothing
 * @param hasCanary whether there is one, whose pods are reached as the others are
 */
export function planIstioRoute(
  service: WantedService,
  host: string,
  gateway: Gateway,
  fallback: FallbackTarget | null,
  canary: CanaryTraffic | null = null,
  hasCanary = false,
): KubeObject[] {
  return [
    planVirtualService(service, host, gateway, fallback, canary),
    planDestinationRule(service, service.name, gateway),
    ...(hasCanary ? [planDestinationRule(service, canaryName(service.name), gateway)] : []),
  ];
}

/** In full, since a short name is looked up in the namespace of who reads it. */
function serviceHost({ name, namespace }: Pick<WantedService, 'name' | 'namespace'>): string {
  return `${name}.${namespace}.svc.cluster.local`;
}

function planVirtualService(
  service: WantedService,
  host: string,
  gateway: Gateway,
  fallback: FallbackTarget | null,
  canary: CanaryTraffic | null,
): KubeObject {
  const { pathPrefix = '' } = service.spec.routing;
  const { service: name, scheme } = fallback ?? { service: service.name, scheme: schemeOf(service) };
  const { namespace } = service;
  const port = { number: servicePort(scheme) };
  const destination = { host: serviceHost({ name, namespace }), port };
  const divided = (chosen: Chosen): object => {
    if (canary === null) return { route: [{ destination }] };
    const other = { host: serviceHost({ name: canary.service, namespace }), port };
    const [weight, percent] = [weightFor(chosen, canary), mirrorFor(chosen, canary)];
    return {
      route: [
        { destination, weight: 100 - weight },
        { destination: other, weight },
      ],
      ...(percent === 0 ? {} : { mirror: other, mirrorPercentage: { value: percent } }),
    };
  };
  const authority = fallback === null ? {} : { authority: fallbackHost(service, name) };
  return {
    apiVersion,
    kind: 'VirtualService',
    metadata: routeMetadata(service, fallback?.service ?? null),
    spec: {
      hosts: [host],
      gateways: [`${gateway.namespace}/${gateway.name}`],
      http: (canary === null ? [null] : choices).flatMap((chosen) =>
        publicPaths.map((path) => ({
          name: `${path.value.slice(1)}${chosen === null ? '' : `-${chosen}`}`,
          match: [
            {
              uri: uriMatch(pathPrefix, path),
              ...(chosen === null ? {} : { headers: { [canaryHeader]: { exact: chosen } } }),
            },
          ],
          ...rewriteTo({ ...(pathPrefix === '' ? {} : { uri: pathOf(path) }), ...authority }),
          ...(fallback === null ? {} : { headers: headersFor(service, name) }),
          ...divided(chosen),
          // No timeout: none is the default, and 0s is refused by istio's schema. Retries are on unless they are zero.
          retries: { attempts: 0 },
        })),
      ),
    },
  };
}

function rewriteTo(rewrite: Rewrite): { readonly rewrite?: Rewrite } {
  return Object.keys(rewrite).length === 0 ? {} : { rewrite };
}

function headersFor(service: WantedService, fallback: string): Headers {
  const { request, response } = fallbackHeaders(service, fallback);
  return { request: { set: request }, response: { set: response } };
}

/** istio compares characters and not segments: a prefix has to end where a segment does. */
function pathOf({ type, value }: PublicPath): string {
  return type === 'Exact' ? value : `${value}/`;
}

function uriMatch(pathPrefix: string, path: PublicPath): UriMatch {
  const whole = pathPrefix + pathOf(path);
  return path.type === 'Exact' ? { exact: whole } : { prefix: whole };
}

/** @param name of the Service, which its own is called by too */
function planDestinationRule(service: WantedService, name: string, gateway: Gateway): KubeObject {
  const tls = tlsSettings(service);
  return {
    apiVersion,
    kind: 'DestinationRule',
    metadata: childMetadata(service, name),
    spec: {
      host: serviceHost({ name, namespace: service.namespace }),
      // Sidecars of clients that speak HTTPS themselves would wrap it in another.
      ...(tls === null ? {} : { exportTo: [gateway.namespace] }),
      trafficPolicy: {
        ...(tls === null ? {} : { tls }),
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

/** What a ConfigMap is called among istio's credentials, from 1.26 on: its key ca.crt is what verifies. */
const configMapCredential = 'configmap://';

/** Null: the pods speak plain HTTP. */
function tlsSettings(service: WantedService): ClientTls | null {
  const { secretRef, caConfigMapRef } = service.spec.tls;
  if (secretRef === undefined || caConfigMapRef === undefined) return null;
  return {
    mode: 'SIMPLE',
    sni: podHostname(service),
    subjectAltNames: [podHostname(service)],
    credentialName: `${configMapCredential}${service.namespace}/${caConfigMapRef.name}`,
  };
}

/** Whether a DestinationRule of ours has gateways speak HTTPS. */
export function originatesTls(rule: KubeObject | null): boolean {
  const { trafficPolicy } = (rule?.['spec'] ?? {}) as { trafficPolicy?: { tls?: ClientTls } };
  return trafficPolicy?.tls !== undefined;
}
