// What the operator and the process that reads a long checkpoint send each other.

import type { Failure } from '@llmservice/crds';
import type { Checkpoint } from '../domain/checkpoint.js';
import type { WantedService } from '../domain/wanted-service.js';
import type { EndpointRules } from './address-guard.js';
import type { StoreSecrets } from './service-secrets.js';

/** All that a look needs, so that the process needs no access to the cluster. */
export interface LongReaderJob extends StoreSecrets {
  readonly service: WantedService;
  readonly endpoints: EndpointRules;
  readonly maxMs: number;
}

export type LongReaderAnswer =
  | { readonly state: 'resolved'; readonly checkpoint: Checkpoint }
  | { readonly state: 'failed'; readonly failure: Failure }
  /** For a reason that is no matter of the checkpoint. */
  | { readonly state: 'error'; readonly message: string };
