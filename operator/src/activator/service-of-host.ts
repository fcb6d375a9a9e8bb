// Whom a request means: the service by the name that it has inside the cluster, or else by its public host. A public
// host is what its owner chose: it must not take what is meant for a name inside the cluster.

export interface Named {
  readonly namespace: string;
  readonly name: string;
  /** Its public host, where it has all of it; else null. */
  readonly host: string | null;
  /** RFC 3339. */
  readonly createdAt: string;
}

/** @param header value of the Host header; undefined: there is none. @returns null: no service has it */
export function serviceOfHost(header: string | undefined, services: readonly Named[]): Named | null {
  const host = (header ?? '').toLowerCase().replace(/:\d*$/, '').replace(/\.$/, '');
  // NAME.NAMESPACE, with or without svc and, behind that, the cluster's domain.
  const [name, namespace, svc] = host.split('.');
  const inside = services.find((each) => each.name === name && each.namespace === namespace);
  if (svc === 'svc' || (svc === undefined && inside !== undefined)) return inside ?? null;
  // The oldest has it, as with routes of the Gateway API.
  const [oldest] = services.filter((each) => each.host?.toLowerCase() === host).sort(byAge);
  return oldest ?? null;
}

function byAge(a: Named, b: Named): number {
  const rank = ({ createdAt, namespace, name }: Named): string => `${createdAt} ${namespace}/${name}`;
  return rank(a) < rank(b) ? -1 : 1;
}
