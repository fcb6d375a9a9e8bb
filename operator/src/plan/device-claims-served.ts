// Whether the cluster has the API by which a service asks for its devices: a pod with a claim would be refused without.

import type { Obstacle } from '../domain/plan-outcome.js';
import type { WantedService } from '../domain/wanted-service.js';
import { resources } from '../kube/resources.js';

interface Served {
  readonly deviceClaims: boolean;
  /** Kinds of others that the operator may not read. */
  readonly forbidden?: readonly string[];
}

const { apiVersion, plural } = resources.claimTemplates;

export function refusedDeviceClaim(
  { accelerator }: Pick<WantedService, 'accelerator'>,
  { deviceClaims, forbidden = [] }: Served,
): Obstacle | null {
  if (accelerator.claim === null || deviceClaims) return null;
  const why = forbidden.includes(plural)
    ? `The operator may not read ${plural} of ${apiVersion}: install its chart anew, whose role allows it, or remove`
    : `The cluster does not serve ResourceClaims as ${apiVersion}, which Kubernetes has from 1.34 on: upgrade it, or remove`;
  return {
    reason: 'DeviceClaimsNotServed',
    message: `${why} spec.accelerator.claim to ask for the devices by the extended resource of the profile.`,
    terminal: true,
  };
}
