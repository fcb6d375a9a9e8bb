// An API of the cluster that may be there or come later: looked for until it is found, then watched.

import type { Logger } from 'winston';
import type { KubeClient } from '../kube/client.js';
import { groupPath, type Resource } from '../kube/resources.js';
import type { Reflector } from './reflector.js';

export interface OptionalApiOptions {
  readonly client: KubeClient;
  readonly logger: Logger;
  /** Of one group and version; all of them must be there. */
  readonly watched: readonly { readonly resource: Resource; readonly reflector: Reflector }[];
  /** Called once it is there and its first lists are in. */
  readonly onFound: () => void;
}

const lookAgainMs = 60_000;

export class OptionalApi {
  private isThere = false;

  constructor(private readonly options: OptionalApiOptions) {}

  get found(): boolean {
    return this.isThere;
  }

  /** Settles after the first look, and then goes on by itself until the signal aborts. */
  async look(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    const { watched, onFound } = this.options;
    this.isThere = await this.discover();
    if (!this.isThere) {
      const timer = setTimeout(() => void this.look(signal), lookAgainMs);
      signal.addEventListener('abort', () => clearTimeout(timer), { once: true });
      return;
    }
    for (const { reflector } of watched) void reflector.run(signal);
    await Promise.all(watched.map(({ reflector }) => reflector.ready));
    onFound();
  }

  private async discover(): Promise<boolean> {
    const { client, logger, watched } = this.options;
    const [first] = watched;
    if (first === undefined) return false;
    try {
      const group = await client.find<{ resources: { name: string }[] }>(
        groupPath(first.resource.apiVersion),
      );
      const names = new Set(group?.resources.map(({ name }) => name));
      return watched.every(({ resource }) => names.has(resource.plural));
    } catch (error) {
      logger.warn('discovery failed', { error: (error as Error).message });
      return false;
    }
  }
}
