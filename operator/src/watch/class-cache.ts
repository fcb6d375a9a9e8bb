// The classes of the cluster, read from when a service first names one: an operator that may read nothing outside of its
// namespaces asks for them no sooner, and a cluster that does not know the kind is asked again until it does.

import type { Logger } from 'winston';
import type { KubeClient } from '../kube/client.js';
import { resources } from '../kube/resources.js';
import type { KnownClasses } from '../plan/class/known-classes.js';
import { Collection } from './collection.js';
import type { Served } from './reflector.js';

export interface ClassCacheOptions {
  readonly client: KubeClient;
  readonly logger: Logger;
  /** @param name of a class that came, changed or went; null: any may have */
  readonly onChange: (name: string | null) => void;
}

export class ClassCache {
  private readonly classes: Collection;
  private served: Served | null = null;
  private signal: AbortSignal | null = null;
  private isAsked = false;

  constructor({ client, logger, onChange }: ClassCacheOptions) {
    this.classes = new Collection({
      ...{ client, logger, namespaces: null, resource: resources.llmServiceClasses },
      onChange: ({ metadata }) => onChange(metadata.name),
      onServed: (served) => {
        this.served = served;
        if (served === 'forbidden') {
          const { plural: resource } = resources.llmServiceClasses;
          logger.warn('the operator may not read a resource', { resource });
        }
        onChange(null);
      },
    });
  }

  /** @param signal ends what a later look begins */
  start(signal: AbortSignal): void {
    this.signal = signal;
  }

  /** Null: not yet; the change is reported. */
  known(): KnownClasses | null {
    if (!this.isAsked && this.signal !== null) {
      this.isAsked = true;
      this.classes.run(this.signal);
    }
    if (this.served === null) return null;
    if (this.served !== 'served') return { state: this.served };
    return {
      state: 'known',
      get: (name) => this.classes.get('', name),
      names: () => [...this.classes.values()].map(({ metadata }) => metadata.name).sort(),
    };
  }
}
