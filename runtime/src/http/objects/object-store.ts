// Small objects by key, in the memory of this process or in a bucket. A write may have a condition on what it replaces, so
// that of several pods that change one object at once one succeeds, and the others see that they did not.

export interface StoredObject {
  readonly body: Buffer;
  /** Another one for every content. */
  readonly etag: string;
}

export interface ObjectHead {
  readonly bytes: number;
  /** Unix time in milliseconds. */
  readonly storedAtMs: number;
}

export interface ListedObject extends ObjectHead {
  readonly key: string;
}

/** What may be at the key: nothing, the object of this ETag, or whatever there is. */
export type Before = 'nothing' | 'anything' | { readonly etag: string };

/** Each method throws ApiError server_busy where the store is out of reach. */
export interface ObjectStore {
  /** Whether other processes find what this one stores. */
  readonly isShared: boolean;
  /** Null: there is none. */
  head(key: string): Promise<ObjectHead | null>;
  /** @param isWanted judges it before it is read; null: there is none, or it is not wanted */
  get(key: string, isWanted?: (head: ObjectHead) => boolean): Promise<StoredObject | null>;
  /** The new object's ETag; null: something else was there before, and is there still. */
  put(key: string, body: Buffer, before: Before): Promise<string | null>;
  /** Of one that is not there too. */
  delete(key: string): Promise<void>;
  /** False: writes are not held to their conditions, so that of two at once one is lost. */
  hasConditions(): Promise<boolean>;
  /** By key. */
  list(prefix: string): Promise<readonly ListedObject[]>;
}

/** Reads JSON that this code alone writes. */
export const jsonOf = ({ body }: StoredObject): unknown => JSON.parse(body.toString());

export const asJson = (value: object): Buffer => Buffer.from(JSON.stringify(value));
