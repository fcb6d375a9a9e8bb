// Whether the cluster has the API that a replica on several nodes takes.

import type { Obstacle } from '../domain/plan-outcome.js';
import type { WantedService } from '../domain/wanted-service.js';
import { resources } from '../kube/resources.js';

interface Served {
  readonly leaderWorkerSets: boolean;
  /** Kinds of others that the operator may not read. */
  readonly forbidden?: readonly string[];
}

const { apiVersion, plural } = resources.leaderWorkerSets;

export function refusedGroups(
  { nodes }: Pick<WantedService, 'nodes'>,
  { leaderWorkerSets, forbidden = [] }: Served,
): Obstacle | null {
  if (nodes === 1 || leaderWorkerSets) return null;
  const why = forbidden.includes(plural)
    ? `The operator may not read ${plural} of ${apiVersion}: install its chart anew, whose role allows it, or set`
    : `The cluster does not serve LeaderWorkerSet as ${apiVersion}: install LWS (https://lws.sigs.k8s.io), or set`;
  return {
    reason: 'LeaderWorkerSetMissing',
    message: `${why} spec.parallelism.nodes to 1 in a service of another name.`,
    // Its definition may be installed at any time, and every service is then reconciled.
    terminal: true,
    holdsNone: true,
  };
}
