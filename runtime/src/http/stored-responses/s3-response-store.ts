// Responses and conversations as objects OWNER/ID.json of a bucket: every pod of a service finds them, and they outlive
// pods. Conversations are changed by writes that succeed only if the object is still as it was read. What
// store-ledger.ts evicts is deleted by a sweep, so limits are exceeded by what is stored between two sweeps.

import { createHash } from 'node:crypto';
import { asJson, jsonOf, type ObjectHead, type ObjectStore } from '../objects/object-store.js';
import { untilWritten } from '../until-written.js';
import { largestBytes, StoreLedger, type StoreLimits } from './store-ledger.js';
import { idOf, type Asker, type ResponseStore, type Stored } from './stored-response.js';

/** The error where S3 is out of reach. */
export const outOfReach =
  'stored responses are out of reach: send the request again, or with store: false and its items';

/** What our ids are: no other is looked up, whatever a client sends. */
const idPattern = /^(resp|conv)_[0-9a-f]{32}$/;
const keyPattern = /^([0-9a-f]{32})\/((?:resp|conv)_[0-9a-f]{32})\.json$/;

interface Found {
  readonly stored: Stored;
  readonly etag: string;
}

/** Each method throws ApiError server_busy where S3 is out of reach. */
export class S3ResponseStore implements ResponseStore {
  readonly isShared = true;
  /** Of S3 that has once said what it can. */
  #conditions: boolean | null = null;

  /**
   * @param objects nothing else is stored there
   * @param clock Unix time in milliseconds
   */
  constructor(
    private readonly objects: ObjectStore,
    private readonly limits: StoreLimits,
    private readonly clock: () => number,
  ) {}

  async get(asker: Asker, id: string): Promise<Stored | null> {
    return (await this.#find(asker, id))?.stored ?? null;
  }

  async put(owner: string, stored: Stored): Promise<boolean> {
    const body = this.#bodyOf(stored);
    if (body === null) return false;
    await this.objects.put(keyOf(owner, idOf(stored)), body, 'anything');
    return true;
  }

  /** @throws ApiError server_busy: others change it again and again */
  change(
    { owner, take }: Asker,
    id: string,
    make: (before: Stored) => Stored,
  ): Promise<Stored | 'missing' | 'too large'> {
    let taking = take;
    return untilWritten(async () => {
      const found = await this.#find({ owner, take: taking }, id);
      // There is room for it: it takes the place of what was read before.
      taking = () => undefined;
      if (found === null) return 'missing';
      const after = make(found.stored);
      if (after === found.stored) return after;
      const body = this.#bodyOf(after);
      if (body === null) return 'too large';
      return (await this.objects.put(keyOf(owner, id), body, { etag: found.etag })) === null ? null : after;
    }, 'the conversation');
  }

  async hasConditions(): Promise<boolean> {
    this.#conditions ??= await this.objects.hasConditions();
    return this.#conditions;
  }

  async delete(owner: string, id: string): Promise<boolean> {
    if (!idPattern.test(id)) return false;
    const key = keyOf(owner, id);
    // A bucket does not say whether there was something to delete.
    const head = await this.objects.head(key);
    if (head === null || this.#isTooOld(head)) return false;
    await this.objects.delete(key);
    return true;
  }

  /** Deletes what is beyond the limits. */
  async sweep(): Promise<number> {
    const ledger = new StoreLedger(this.limits);
    const objects = (await this.objects.list('')).flatMap(({ key, bytes, storedAtMs }) => {
      const [, owner, id] = keyPattern.exec(key) ?? [];
      const expiresAt = storedAtMs + this.limits.maxAgeMs;
      return owner === undefined || id === undefined ? [] : [{ owner, id, bytes, expiresAt }];
    });
    for (const object of objects.sort((a, b) => a.expiresAt - b.expiresAt)) ledger.add(object);
    const surplus = [...ledger.expire(this.clock()), ...ledger.makeRoom(0, 0)];
    for (const { owner, id } of surplus) await this.objects.delete(`${owner}/${id}.json`);
    return surplus.length;
  }

  async #find({ owner, take }: Asker, id: string): Promise<Found | null> {
    if (!idPattern.test(id)) return null;
    const found = await this.objects.get(keyOf(owner, id), (head) => {
      if (this.#isTooOld(head)) return false;
      take(head.bytes);
      return true;
    });
    // `#bodyOf` alone makes these objects.
    return found === null ? null : { stored: jsonOf(found) as Stored, etag: found.etag };
  }

  /** Null: it is too large. */
  #bodyOf(stored: Stored): Buffer | null {
    const body = asJson(stored);
    return body.length > largestBytes(this.limits) ? null : body;
  }

  #isTooOld({ storedAtMs }: ObjectHead): boolean {
    return storedAtMs + this.limits.maxAgeMs <= this.clock();
  }
}

/** Ids of keys may have any characters. */
function keyOf(owner: string, id: string): string {
  const folder = createHash('sha256').update(owner).digest('hex').slice(0, 32);
  return `${folder}/${id}.json`;
}
