// What is kept of one response of OpenAI's Responses, and of whoever keeps it: in memory here, behind an interface that
// waits, so that it can also be elsewhere.

import type { Fields } from '../../request/body/field-table.js';
import type { RawItem } from '../../request/fields/responses-input.js';

/** An item as clients get it back, and as the model is given it again. */
export type StoredItem = RawItem & { readonly id: string; readonly [more: string]: unknown };

/** As its client got it. */
export interface ResponseBody extends Fields {
  readonly id: string;
  readonly status: 'queued' | 'in_progress' | 'completed' | 'incomplete' | 'failed' | 'cancelled';
  readonly background: boolean;
  readonly output: readonly StoredItem[];
}

export interface StoredResponse {
  readonly response: ResponseBody;
  /** All that it was generated from, those of responses before it included: it can be continued once they are gone. */
  readonly items: readonly StoredItem[];
  /** As they were streamed, by their sequence numbers; null: they were not, or not in the background. */
  readonly events: readonly string[] | null;
  /** When it was known to run, in Unix milliseconds; null: it has ended. */
  readonly aliveAtMs: number | null;
}

/** A request that comes for what is stored. */
export interface Asker {
  /** Id of its API key: what one owner stores, no other finds. */
  readonly owner: string;
  /** Is called with the size of what is found before it is read. @throws ApiError: there is no room for it */
  readonly take: (bytes: number) => void;
}

export interface ResponseStore {
  /** Whether other processes find what this one stores. */
  readonly isShared: boolean;
  /** Null: nothing is stored under this id, or no longer. */
  get(asker: Asker, id: string): Promise<StoredResponse | null>;
  /** False: it is too large to be stored. */
  put(owner: string, stored: StoredResponse): Promise<boolean>;
  /** False: there was nothing to delete. */
  delete(owner: string, id: string): Promise<boolean>;
}
