// What is kept of responses and conversations of OpenAI's Responses, and of whoever keeps it: in memory here, behind an
// interface that waits, so that it can also be elsewhere.

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

/** As its clients get it. */
export interface ConversationBody {
  readonly id: string;
  readonly object: 'conversation';
  /** Unix time in seconds. */
  readonly created_at: number;
  readonly metadata: Readonly<Record<string, string>>;
}

export interface StoredConversation {
  readonly conversation: ConversationBody;
  /** The oldest first, each with an id of its own. */
  readonly items: readonly StoredItem[];
}

/** What a response adds to a conversation. */
export interface ConversationTurn {
  /** Of the conversation. */
  readonly id: string;
  readonly responseId: string;
  /** What it was asked, and what it answers. */
  readonly items: readonly StoredItem[];
}

export type Stored = StoredResponse | StoredConversation;

export const idOf = (stored: Stored): string =>
  'response' in stored ? stored.response.id : stored.conversation.id;

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
  get(asker: Asker, id: string): Promise<Stored | null>;
  /** False: it is too large to be stored. */
  put(owner: string, stored: Stored): Promise<boolean>;
  /**
   * What is stored then; of changes at the same time, each begins with what the one before it has made.
   * @param make may be called again; what it throws, and what it returns as it was, changes nothing
   */
  change(
    asker: Asker,
    id: string,
    make: (before: Stored) => Stored,
  ): Promise<Stored | 'missing' | 'too large'>;
  /** False: of changes at the same time, some could be lost. */
  hasConditions(): Promise<boolean>;
  /** False: there was nothing to delete. */
  delete(owner: string, id: string): Promise<boolean>;
}
