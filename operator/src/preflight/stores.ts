// Checkpoints where services name them: in their stores, reached with their own credentials.

import type { WantedService } from '../domain/wanted-service.js';
import { openStores } from './open-stores.js';
import type { Guarding } from './cluster-guard.js';
import type { CheckpointSource, OpenFolders } from './preflight.js';
import type { ServiceSecrets } from './service-secrets.js';

export class Stores implements CheckpointSource {
  constructor(
    private readonly secrets: ServiceSecrets,
    private readonly endpoints: Pick<Guarding, 'guard'>,
  ) {}

  async open(service: WantedService): Promise<OpenFolders> {
    return openStores(service, await this.secrets.open(service), this.endpoints.guard);
  }
}
