// Whom a request means: the service with its public host, or by the name that it has inside the cluster.

export interface Named {
  readonly namespace: string;
  readonly name: string;
  /** spec.routing.host, or null. */
  readonly host: string | null;
}

export type Meant =
  | { readonly state: 'found'; readonly service: Named }
  | { readonly state: 'unknown' }
  /** Several services have the host. */
  | { readonly state: 'ambiguous'; readonly keys: readonly string[] };

/** @param header value of the Host header; undefined: there is none */
export function serviceOfHost(header: string | undefined, services: readonly Named[]): Meant {
  const host = (header ?? '').toLowerCase().replace(/:\d*$/, '').replace(/\.$/, '');
  const routed = services.filter((each) => each.host?.toLowerCase() === host);
  const [service, ...others] = routed.length > 0 ? routed : services.filter((each) => isInside(host, each));
  if (service === undefined) return { state: 'unknown' };
  if (others.length === 0) return { state: 'found', service };
  return { state: 'ambiguous', keys: routed.map(({ namespace, name }) => `${namespace}/${name}`) };
}

/** NAME.NAMESPACE, with or without svc and, behind that, the cluster's domain. */
function isInside(host: string, { namespace, name }: Named): boolean {
  const inside = `${name}.${namespace}`;
  return host === inside || host === `${inside}.svc` || host.startsWith(`${inside}.svc.`);
}
