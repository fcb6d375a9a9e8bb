// By what the gateway, the activator and the operator verify pods that speak HTTPS: the authorities of the ConfigMap that the
// service names, and the name that each pod's certificate has to have, since nobody asks pods by their own.

import type { WantedService } from '../../domain/wanted-service.js';

export type PodAuthority =
  /** None is named. */
  | { readonly state: 'none' }
  | { readonly state: 'known'; readonly pem: string }
  /** There is no such ConfigMap, or nothing in it that could verify. */
  | { readonly state: 'missing'; readonly message: string };

/** The key of the ConfigMap, by the Gateway API's BackendTLSPolicy. */
export const authorityKey = 'ca.crt';

/** In the certificate of every pod of the service. */
export function podHostname({ name, namespace }: Pick<WantedService, 'name' | 'namespace'>): string {
  return `${name}.${namespace}.svc`;
}

/** The operator keeps them of every service, and the status of one that sleeps has them. */
export const maxAuthorityCharacters = 65_536;

/**
 * What the status hands the activator, which may not read ConfigMaps of tenants. Null: the service does not sleep, its pods
 * speak plain HTTP, or what verifies them is not known.
 */
export function authoritiesForActivator(
  { spec }: Pick<WantedService, 'spec'>,
  authority: PodAuthority,
): string | null {
  return spec.scaling.idleAfterSeconds !== undefined && authority.state === 'known' ? authority.pem : null;
}

/** Why the activator cannot take requests of a service; null: it can. @param byTls whether it serves HTTPS */
export function uncoverable(
  { spec }: Pick<WantedService, 'spec'>,
  authorities: string | null,
  byTls: boolean,
): string | null {
  if (spec.tls.secretRef === undefined) return null;
  if (!byTls) return noActivatorTls;
  return authorities === null ? noAuthorities : null;
}

const noActivatorTls =
  'It does not fall asleep: its clients speak HTTPS, and the activator has no certificate. Install the operator with ' +
  'activator.tls.secretName.';
const noAuthorities =
  'It does not fall asleep: the activator has nothing to verify the pods by. The ConfigMap that spec.tls.caConfigMapRef ' +
  'names must hold the authorities of their certificate in ca.crt.';
