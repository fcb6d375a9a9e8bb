// Which of several services and gateways has a public host: who had it first keeps it, so that nobody takes another's requests by
// naming its host. Services with different path prefixes share one.

import type { LlmServiceSpec, LlmServiceStatus } from '@llmservice/crds';
import type { KubeObject } from '../../kube/types.js';
import { publicPaths, type PublicPath } from './public-paths.js';

export interface HostClaim {
  /** LlmService or LlmGateway. */
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly host: string;
  /** Empty: none. */
  readonly pathPrefix: string;
  /** RFC 3339. */
  readonly createdAt: string;
  /** Its status says that it has it. */
  readonly granted: boolean;
}

/** As status.url has it of a service that is routed. */
export function publicUrl({ host, pathPrefix }: Pick<HostClaim, 'host' | 'pathPrefix'>): string {
  return `http://${host}${pathPrefix}/`;
}

/** Null: it asks for no host, or is about to go. */
export function hostClaim({ kind, metadata, spec, status }: KubeObject): HostClaim | null {
  // An older CRD does not fill it in.
  const { routing } = (spec ?? {}) as Partial<LlmServiceSpec>;
  const { host, pathPrefix = '', provider } = routing ?? {};
  if (host === undefined || provider === 'none' || metadata.deletionTimestamp !== undefined) return null;
  return {
    kind,
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    host,
    pathPrefix,
    createdAt: metadata.creationTimestamp ?? '',
    granted: (status as LlmServiceStatus | undefined)?.url === publicUrl({ host, pathPrefix }),
  };
}

/** @returns NAMESPACE/NAME of the service that has what `own` asks for; null: nobody else has */
export function hostHolder(own: HostClaim, others: Iterable<HostClaim>): string | null {
  let first = own;
  for (const other of others) {
    if (overlaps(own, other) && isBefore(other, first)) first = other;
  }
  return first === own ? null : `${first.namespace}/${first.name}`;
}

/** Reasons of the condition Routed, of a gateway Programmed, where it has not the host that it asks for. */
const withoutHost: readonly (string | undefined)[] = ['HostTaken', 'HostNotAllowed'];

/** What it asks for counts for nothing: others have it. */
export function isRefusedHost({ status }: KubeObject): boolean {
  const { conditions } = (status ?? {}) as LlmServiceStatus;
  const routed = conditions?.find(({ type }) => type === 'Routed' || type === 'Programmed');
  return withoutHost.includes(routed?.reason);
}

/** Its class does not admit what it asks for, and it has nothing: others may have the host, whoever was first. */
export function isBeyondClass({ status }: KubeObject): boolean {
  const { conditions, url } = (status ?? {}) as LlmServiceStatus;
  const resolved = conditions?.find(({ type }) => type === 'ClassResolved');
  return resolved?.status === 'False' && resolved.reason === 'OutOfBounds' && url === undefined;
}

/** That it names, whether it may have it or not; null: none. */
export function namedHost({ spec }: KubeObject): string | null {
  return ((spec ?? {}) as Partial<LlmServiceSpec>).routing?.host ?? null;
}

/** Those that it names, and that its status says it has. */
export function concernedHosts(service: KubeObject): string[] {
  const { url } = (service['status'] ?? {}) as LlmServiceStatus;
  const [, had] = /^http:\/\/([^/]*)\//.exec(url ?? '') ?? [];
  return [...new Set([namedHost(service), had])].filter((host) => host !== null && host !== undefined);
}

/** Whether a change of a service may free the host, which it has or had, that the waiting one asks for. */
export function waitsForHostOf(waiting: KubeObject, changed: KubeObject): boolean {
  const host = namedHost(waiting);
  return host !== null && isRefusedHost(waiting) && concernedHosts(changed).includes(host);
}

function isBefore(a: HostClaim, b: HostClaim): boolean {
  if (a.granted !== b.granted) return a.granted;
  const rank = ({ createdAt, namespace, name }: HostClaim): string => `${createdAt} ${namespace}/${name}`;
  return rank(a) < rank(b);
}

/** Whether some request would be for both: of two prefixes the longer one takes what the shorter one was to have. */
function overlaps(a: HostClaim, b: HostClaim): boolean {
  if (a.host !== b.host || isSame(a, b)) return false;
  const ofA = pathsOf(a);
  const ofB = pathsOf(b);
  return ofA.some((one) => ofB.some((other) => covers(one, other) || covers(other, one)));
}

function isSame(a: HostClaim, b: HostClaim): boolean {
  return a.kind === b.kind && a.namespace === b.namespace && a.name === b.name;
}

function pathsOf({ pathPrefix }: HostClaim): PublicPath[] {
  return publicPaths.map(({ type, value }) => ({ type, value: `${pathPrefix}${value}` }));
}

function covers(one: PublicPath, other: PublicPath): boolean {
  if (one.value === other.value) return true;
  return one.type === 'PathPrefix' && other.value.startsWith(`${one.value}/`);
}
