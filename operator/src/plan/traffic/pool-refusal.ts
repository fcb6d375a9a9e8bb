// What a gateway has against a route that leads to an InferencePool, and when it is asked again: never by itself where it does
// not know the kind, since completions fail until the route leads away again, and ever later where the reason may pass.

import { annotations } from '@llmservice/crds';
import { resources } from '../../kube/resources.js';
import type { HttpRoute } from '../../kube/types.js';

/** Refusals for reasons that may pass. The route has them, so that a restart of the operator forgets none. */
export interface Refusals {
  readonly times: number;
  /** When the last was seen, RFC 3339. */
  readonly at: string;
}

interface Complaint {
  readonly said: string;
  readonly mayPass: boolean;
}

const firstMs = 60_000;
const maxMs = 3_600_000;
/** A refusal so long after the one before is the first again. */
const forgottenMs = 6 * maxMs;
/** What a gateway that does not have the kind, or not for such a route, says of it. Another version of it may have it. */
const lasting: readonly string[] = [
  ...['InvalidKind', 'UnsupportedValue', 'UnsupportedProtocol', 'IncompatibleFilters'],
];

/** Of the route as it now is; null: nothing, or the route does not lead to a pool. */
export function complaintOf(route: HttpRoute | null, gateway: string): Complaint | null {
  if (route === null || !JSON.stringify(route['spec']).includes(resources.inferencePools.kind)) return null;
  const { generation = 0 } = route.metadata;
  const parents = route.status?.parents?.filter(({ parentRef }) => parentRef.name === gateway) ?? [];
  // Gateways have more than one reason for what they do not know, and requests fail by each.
  const refusals = parents
    .flatMap(({ conditions = [] }) => conditions)
    .filter(
      ({ type, status, observedGeneration = 0 }) =>
        ['ResolvedRefs', 'Accepted'].includes(type) && status === 'False' && observedGeneration >= generation,
    );
  const [refusal] = refusals;
  if (refusal === undefined) return null;
  return {
    said: refusal.message ?? refusal.reason ?? refusal.type,
    mayPass: refusals.every(({ reason = '' }) => !lasting.includes(reason)),
  };
}

/** With one more. @param now RFC 3339 */
export function refusedAgain(before: Refusals | null, now: string): Refusals {
  const isOld = before === null || Date.parse(now) - Date.parse(before.at) > forgottenMs;
  return { times: isOld ? 1 : before.times + 1, at: now };
}

/** When the gateway is asked again. */
export function askedAgainAt({ times, at }: Refusals): Date {
  return new Date(Date.parse(at) + Math.min(maxMs, firstMs * 2 ** Math.min(times - 1, 10)));
}

export function refusalsOn(route: HttpRoute | null): Refusals | null {
  const text = route?.metadata.annotations?.[annotations.poolRefusals] ?? '';
  const [, times = '', at = ''] = /^([1-9]\d{0,5}) (\S+)$/.exec(text) ?? [];
  return times === '' || Number.isNaN(Date.parse(at)) ? null : { times: Number(times), at };
}

/** As the route has them. */
export function refusalNotes(refusals: Refusals | undefined): Record<string, string> {
  return refusals === undefined
    ? {}
    : { [annotations.poolRefusals]: `${String(refusals.times)} ${refusals.at}` };
}
