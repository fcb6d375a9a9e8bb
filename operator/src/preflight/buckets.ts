// Checkpoints where services name them: in their buckets, reached with their own credentials.

import type { WantedService } from '../domain/wanted-service.js';
import { s3Access } from '../resource/s3-access.js';
import { openBuckets } from './open-buckets.js';
import type { Guarding } from './cluster-guard.js';
import type { CheckpointSource, OpenFolders } from './preflight.js';
import type { ServiceSecrets } from './service-secrets.js';

export class Buckets implements CheckpointSource {
  constructor(
    private readonly secrets: ServiceSecrets,
    private readonly endpoints: Pick<Guarding, 'guard'>,
  ) {}

  async open(service: WantedService): Promise<OpenFolders> {
    const access = s3Access(service);
    const lookup = this.endpoints.guard.lookupFor(access.endpoint);
    return openBuckets(access, { ...(await this.secrets.open(service)), lookup });
  }
}
