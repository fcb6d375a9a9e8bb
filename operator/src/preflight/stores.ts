// Checkpoints where services name them: in their stores, reached with their own credentials, or on claims.

import type { KubeClient } from '../kube/client.js';
import type { WantedService } from '../domain/wanted-service.js';
import { openStores } from './open-stores.js';
import { lookAtClaim } from './look-at-claim.js';
import type { Guarding } from './cluster-guard.js';
import type { CheckpointSource, OpenFolders } from './preflight.js';
import type { ServiceSecrets } from './service-secrets.js';

export class Stores implements CheckpointSource {
  constructor(
    private readonly secrets: ServiceSecrets,
    private readonly endpoints: Pick<Guarding, 'guard'>,
    private readonly client: Pick<KubeClient, 'find'>,
  ) {}

  async open(service: WantedService): Promise<OpenFolders> {
    const folders = openStores(service, await this.secrets.open(service), this.endpoints.guard);
    const { namespace, checkpoint } = service;
    if (!('claim' in checkpoint)) return folders;
    try {
      return { ...folders, onClaim: await lookAtClaim(this.client, namespace, checkpoint) };
    } catch (error) {
      folders.close();
      throw error;
    }
  }
}
