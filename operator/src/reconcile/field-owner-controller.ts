// Has whoever owns fields of a service by names of v1beta1 own them by those of v1alpha1, as soon as it is seen: what the operator
// and others write then needs no conversion, neither while the webhook is away nor after a rollback to a release without it.

import { ownersInStoredVersion } from '@llmservice/crds';
import type { Logger } from 'winston';
import { NotLeaderError, type Writer } from '../apply/writer.js';
import { ApiError } from '../kube/client.js';
import { keyOf } from '../kube/resources.js';
import type { KubeObject } from '../kube/types.js';

export class FieldOwnerController {
  /** One after the other: after an upgrade there may be many. */
  private last: Promise<void> = Promise.resolve();

  constructor(
    private readonly writer: Pick<Writer, 'writeOwners'>,
    private readonly logger: Pick<Logger, 'warn'>,
  ) {}

  /** @param service as the API server gave it */
  see(service: KubeObject): void {
    const owners = ownersInStoredVersion(service.metadata.managedFields ?? []);
    if (owners === null || service.metadata.deletionTimestamp !== undefined) return;
    this.last = this.last
      .then(() => this.writer.writeOwners(service, owners))
      .catch((error: unknown) => {
        // Who changed it meanwhile is seen too.
        const isLate = error instanceof ApiError && (error.status === 409 || error.status === 404);
        if (isLate || error instanceof NotLeaderError) return;
        const { message } = error as Error;
        this.logger.warn('owners of fields were not written', { service: keyOf(service), error: message });
      });
  }

  /** Waits for what is under way. */
  stop(): Promise<void> {
    return this.last;
  }
}
