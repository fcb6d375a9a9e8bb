// Checkpoints where services name them: in their buckets, reached with their own credentials.

import type { CheckpointLocation, WantedService } from '../spec/parse-spec.js';
import { s3Access } from '../spec/s3-access.js';
import type { AddressGuard } from './address-guard.js';
import type { CheckpointSource, OpenFolders } from './preflight.js';
import { S3Files } from './s3-files.js';
import type { ServiceSecrets } from './service-secrets.js';

export class Buckets implements CheckpointSource {
  constructor(
    private readonly secrets: ServiceSecrets,
    private readonly guard: AddressGuard,
  ) {}

  async open(service: WantedService): Promise<OpenFolders> {
    const access = s3Access(service);
    const lookup = this.guard.lookupFor(access.endpoint);
    const { credentials, certificates } = await this.secrets.open(service);
    const opened: S3Files[] = [];
    return {
      at: (location: CheckpointLocation) => {
        const files = new S3Files(access, { credentials, certificates, lookup }, location);
        opened.push(files);
        return files;
      },
      close: () => {
        for (const files of opened) files.close();
      },
    };
  }
}
