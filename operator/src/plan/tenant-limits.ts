// What the operator's administrator lets manifests name: who may write an LlmService may have no other right in the
// cluster, and none that its pods do not have.

import type { Obstacle } from '../domain/plan-outcome.js';
import type { WantedService } from '../domain/wanted-service.js';
import { matchesGlob } from '../resource/globs.js';
import { matchesImage, repositoryOf } from '../resource/image-names.js';
import type { RouteHosts } from './traffic/route-hosts.js';

/** Patterns, see globs.ts. */
export interface TenantLimits {
  /** In addition to the repositories of the operator's own images. */
  readonly images: readonly string[];
  /** NAMESPACE/NAME, in addition to `default` of each namespace. */
  readonly serviceAccounts: readonly string[];
  /** Empty: any host for any namespace. */
  readonly routeHosts: readonly RouteHosts[];
}

export const noLimits: TenantLimits = { images: ['**'], serviceAccounts: ['*/*'], routeHosts: [] };

/** @param own images that the operator was installed with; null: none of this kind */
export function refusedImage(
  { spec }: Pick<WantedService, 'spec'>,
  { images: patterns }: Pick<TenantLimits, 'images'>,
  own: readonly (string | null)[],
): Obstacle | null {
  const { image } = spec.engine;
  if (image === undefined) return null;
  const repositories = own.flatMap((each) => (each === null ? [] : [repositoryOf(each)]));
  const allowed = [...new Set([...repositories, ...patterns])];
  if (allowed.some((pattern) => matchesImage(pattern, image))) return null;
  return {
    reason: 'ImageNotAllowed',
    message:
      `spec.engine.image ${image} is not among the images that the operator allows: ${listed(allowed)}. ` +
      'Use one of these, or have the administrator add it to images.allowed of the operator’s chart (--allow-image).',
    terminal: true,
  };
}

export function refusedServiceAccount(
  { namespace, spec }: Pick<WantedService, 'namespace' | 'spec'>,
  { serviceAccounts }: Pick<TenantLimits, 'serviceAccounts'>,
): Obstacle | null {
  const { serviceAccountName: name = 'default' } = spec;
  if (name === 'default') return null;
  if (serviceAccounts.some((pattern) => matchesGlob(pattern, `${namespace}/${name}`, '/'))) return null;
  return {
    reason: 'ServiceAccountNotAllowed',
    message:
      `spec.serviceAccountName ${name} is not among the accounts that the operator allows: ` +
      `${listed(['default', ...serviceAccounts])}. Leave it out, or have the administrator add ${namespace}/${name} to ` +
      'serviceAccounts.allowed of the operator’s chart (--allow-service-account).',
    terminal: true,
  };
}

function listed(texts: readonly string[]): string {
  return texts.length === 0 ? 'none' : texts.join(', ');
}
