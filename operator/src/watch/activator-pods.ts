// Pods of the activators that are the operator's own, in its namespace: they take the requests of services that sleep.

import { activatorName, labels } from '@llmservice/crds';
import type { Logger } from 'winston';
import type { KubeClient } from '../kube/client.js';
import { resources } from '../kube/resources.js';
import type { Pod } from '../kube/types.js';
import { isReady } from '../status/pod-state.js';
import { podAsRead } from './pod-as-read.js';
import { Reflector } from './reflector.js';

export interface ActivatorPodsOptions {
  readonly client: KubeClient;
  readonly logger: Logger;
  readonly namespace: string;
  /** Null: activators of no instance. */
  readonly instance: string | null;
  readonly silenceMs?: number;
  /** Called where other addresses are ready than before. */
  readonly onChange: () => void;
}

export class ActivatorPods {
  private readonly pods: Reflector;
  private known = '';

  constructor({ instance, onChange, ...options }: ActivatorPodsOptions) {
    const ofInstance =
      instance === null ? `!${labels.activatorInstance}` : `${labels.activatorInstance}=${instance}`;
    this.pods = new Reflector({
      ...options,
      resource: resources.pods,
      labelSelector: `${labels.name}=${activatorName},${ofInstance}`,
      keep: podAsRead,
      onChange: () => {
        const addresses = this.addresses().join();
        if (addresses === this.known) return;
        this.known = addresses;
        onChange();
      },
    });
  }

  /** Settles when the first list is in. */
  get ready(): Promise<void> {
    return this.pods.ready;
  }

  get interruptedMs(): number | null {
    return this.pods.interruptedMs;
  }

  /** Runs until the signal aborts. */
  run(signal: AbortSignal): void {
    void this.pods.run(signal);
  }

  /** Of those that are ready, in a fixed order. */
  addresses(): string[] {
    return [...(this.pods.values() as IterableIterator<Pod>)]
      .filter(isReady)
      .map(({ status }) => status?.podIP ?? '')
      .filter((ip) => ip !== '')
      .sort();
  }
}
