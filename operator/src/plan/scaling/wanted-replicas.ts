// How many pods a service is to have by its spec alone.

import type { WantedService } from '../../domain/wanted-service.js';

export function wantedReplicas({ spec }: Pick<WantedService, 'spec'>): number {
  return spec.stop ? 0 : spec.replicas;
}
