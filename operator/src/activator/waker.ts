// Notifies the operator that somebody asks for a service: the time, in an annotation of the LlmService, written seldom.

import { annotations } from '@llmservice/crds';
import type { Logger } from 'winston';
import type { KubeClient } from '../kube/client.js';
import { objectPath, resources } from '../kube/resources.js';

/** Between two writes for one service. */
const throttleMs = 2_000;

export class Waker {
  /** When each was written last, by a monotonic clock. */
  private readonly written = new Map<string, number>();

  constructor(
    private readonly client: Pick<KubeClient, 'request'>,
    private readonly logger: Logger,
    private readonly now: () => Date,
  ) {}

  /** Never fails: who still waits has it written again. */
  async wake(key: string): Promise<void> {
    const last = this.written.get(key);
    if (last !== undefined && performance.now() - last < throttleMs) return;
    this.written.set(key, performance.now());
    const [namespace = '', name = ''] = key.split('/');
    try {
      await this.client.request({
        method: 'PATCH',
        path: objectPath(resources.llmServices, namespace, name),
        contentType: 'application/merge-patch+json',
        body: { metadata: { annotations: { [annotations.lastRequest]: this.now().toISOString() } } },
      });
    } catch (error) {
      this.logger.warn('a request could not be reported', { service: key, error: (error as Error).message });
    }
  }
}
