// The public route by the Gateway API: one host, the API's paths, no time limit (a stream lasts as long as it lasts).

import { annotations } from '@llmservice/crds';
import type { WantedService } from '../../domain/wanted-service.js';
import type { KubeObject } from '../../kube/types.js';
import { schemeOf, servicePort } from '../pods/container-parts.js';
import { canaryHeader, mirrorFor, weightFor, type CanaryTraffic, type Chosen } from './canary-traffic.js';
import { fallbackHeaders, fallbackHost, type FallbackTarget } from './fallback.js';
import { httpRouteObject } from './http-route-object.js';
import type { Pool } from './pool.js';
import { refusalNotes } from './pool-refusal.js';
import { poolQuestion } from './pool-route.js';
import { pooledPaths, publicPaths, type PublicPath } from './public-paths.js';
import { routeMetadata } from './route-metadata.js';
import type { Gateway } from './routing.js';

type PathRewrite =
  | { readonly type: 'ReplaceFullPath'; readonly replaceFullPath: string }
  | { readonly type: 'ReplacePrefixMatch'; readonly replacePrefixMatch: string };

interface UrlRewrite {
  readonly hostname?: string;
  readonly path?: PathRewrite;
}

interface HeaderFilter {
  readonly set: readonly { readonly name: string; readonly value: string }[];
}

/** What is written of the Gateway API's filters: client-node has no types of it. */
type Filter =
  | { readonly type: 'RequestHeaderModifier'; readonly requestHeaderModifier: HeaderFilter }
  | { readonly type: 'ResponseHeaderModifier'; readonly responseHeaderModifier: HeaderFilter }
  | { readonly type: 'URLRewrite'; readonly urlRewrite: UrlRewrite }
  | { readonly type: 'RequestMirror'; readonly requestMirror: Mirror };

interface BackendRef {
  readonly group: '';
  readonly kind: 'Service';
  readonly name: string;
  readonly port: number;
}

interface PoolRef {
  readonly group: 'inference.networking.k8s.io';
  readonly kind: 'InferencePool';
  readonly name: string;
}

interface Mirror {
  readonly backendRef: BackendRef;
  /** Undefined: all of them, which older gateways know too. */
  readonly percent?: number;
}

/**
 * Gateways take the most specific match wherever it stands. Envoy Gateway names what a rule leads to after the rule's
 * place, and takes away what has no rule any more before the routes to it: where a canary moved rules, requests would
 * meet a 503 for a moment. So all others come first, those of a pool last, and the rules for the header are there as
 * long as `spec.canary` is.
 */
const choices: readonly Chosen[] = [null, 'always', 'never'];

/**
 * @param fallback the service that the route leads to instead; null: to its own
 * @param canary what a canary gets; null: nothing
 * @param pool whether an InferencePool answers what its picker can read; never beside a canary
 */
export function planHttpRoute(
  service: WantedService,
  host: string,
  gateway: Gateway,
  fallback: FallbackTarget | null,
  canary: CanaryTraffic | null = null,
  pool: Pool = { state: 'none' },
): KubeObject {
  const { pathPrefix } = service.spec.routing;
  const { service: target, scheme } = fallback ?? { service: service.name, scheme: schemeOf(service) };
  const refTo = (name: string): BackendRef => ({
    group: '',
    kind: 'Service',
    name,
    port: servicePort(scheme),
  });
  const backends = (chosen: Chosen): object[] => {
    if (canary === null) return [{ ...refTo(target), weight: 1 }];
    const weight = weightFor(chosen, canary);
    return [
      { ...refTo(target), weight: 100 - weight },
      { ...refTo(canary.service), weight },
    ];
  };
  const mirrors = (chosen: Chosen): Filter[] => {
    const percent = canary === null ? 0 : mirrorFor(chosen, canary);
    if (canary === null || percent === 0) return [];
    const requestMirror = { backendRef: refTo(canary.service), ...(percent === 100 ? {} : { percent }) };
    return [{ type: 'RequestMirror', requestMirror }];
  };
  const modifiers = fallback === null ? [] : headerModifiers(service, target);
  const rewritten: UrlRewrite = fallback === null ? {} : { hostname: fallbackHost(service, target) };
  const rule = (
    paths: readonly PublicPath[],
    rewrite: UrlRewrite,
    chosen: Chosen,
    to: readonly object[] = backends(chosen),
  ) => {
    const isRewritten = Object.keys(rewrite).length > 0;
    const rewriting: Filter[] = isRewritten ? [{ type: 'URLRewrite', urlRewrite: rewrite }] : [];
    const filters = [...modifiers, ...rewriting, ...mirrors(chosen)];
    const choosing =
      chosen === null ? {} : { headers: [{ type: 'Exact', name: canaryHeader, value: chosen }] };
    return {
      matches: paths.map(({ type, value }) => ({
        path: { type, value: `${pathPrefix ?? ''}${value}` },
        ...choosing,
      })),
      ...(filters.length === 0 ? {} : { filters }),
      backendRefs: to,
      timeouts: { request: '0s' },
    };
  };
  /** The server is asked for the path alone. A rule has one rewrite, so that each path behind a prefix has a rule. */
  const rulesFor = (paths: readonly PublicPath[], chosen: Chosen, to?: readonly object[]) =>
    pathPrefix === undefined
      ? [rule(paths, rewritten, chosen, to)]
      : paths.map((path) => rule([path], { ...rewritten, path: replaced(path) }, chosen, to));
  const chosen = canary === null && service.spec.canary === undefined ? [null] : choices;
  const toPool = [poolRef(service.name)];
  const isAsked = fallback === null && pool.state === 'planned' && pool.awaits !== 'pool';
  const asking = isAsked ? [poolQuestion(rulesFor(pooledPaths.slice(0, 1), null, toPool))] : [];
  const pooled = isAsked && pool.awaits === null ? rulesFor(pooledPaths, null, toPool) : [];
  const metadata = routeMetadata(service, fallback?.service ?? null, {
    ...(pool.state === 'refused' ? { [annotations.poolRefused]: pool.retry } : {}),
    ...('refusals' in pool ? refusalNotes(pool.refusals) : {}),
  });
  return httpRouteObject({ metadata, host, gateway }, [
    ...chosen.flatMap((each) => rulesFor(publicPaths, each)),
    ...asking.flat(),
    ...pooled,
  ]);
}

function poolRef(name: string): PoolRef {
  return { group: 'inference.networking.k8s.io', kind: 'InferencePool', name };
}

function replaced({ type, value }: PublicPath): PathRewrite {
  return type === 'Exact'
    ? { type: 'ReplaceFullPath', replaceFullPath: value }
    : { type: 'ReplacePrefixMatch', replacePrefixMatch: value };
}

function headerModifiers(service: WantedService, fallback: string): Filter[] {
  const { request, response } = fallbackHeaders(service, fallback);
  const set = (values: Record<string, string>): HeaderFilter => ({
    set: Object.entries(values).map(([name, value]) => ({ name, value })),
  });
  return [
    { type: 'RequestHeaderModifier', requestHeaderModifier: set(request) },
    { type: 'ResponseHeaderModifier', responseHeaderModifier: set(response) },
  ];
}
