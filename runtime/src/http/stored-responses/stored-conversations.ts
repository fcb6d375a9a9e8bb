// Conversations of API keys, in the store of responses: clients add items to them, and responses that end what they were
// asked and have answered. Of additions at the same time none is lost, and each stays in one piece.

import { randomUUID } from 'node:crypto';
import { ApiError } from '../../request/body/api-error.js';
import { invalidRequest, violationAt } from '../../request/body/violation.js';
import { maxItems, type RawItem } from '../../request/fields/responses-input.js';
import { responseOf, storedItems } from './stored-items.js';
import type {
  Asker,
  ConversationBody,
  ResponseStore,
  StoredConversation,
  StoredItem,
} from './stored-response.js';

type Metadata = ConversationBody['metadata'];

export class StoredConversations {
  /** @param clock Unix time in milliseconds */
  constructor(
    private readonly store: ResponseStore,
    private readonly clock: () => number,
  ) {}

  /** @throws ApiError request_too_large; route_not_found: the store loses changes */
  async create(owner: string, items: readonly RawItem[], metadata: Metadata): Promise<ConversationBody> {
    if (!(await this.store.hasConditions())) throw ApiError.of('route_not_found', noConditions);
    const conversation: ConversationBody = {
      id: `conv_${newHex()}`,
      object: 'conversation',
      created_at: Math.floor(this.clock() / 1000),
      metadata,
    };
    const stored = { conversation, items: storedItems(items.map(unnamed), newHex()) };
    if (!(await this.store.put(owner, stored))) throw tooLarge();
    return conversation;
  }

  /**
   * @param param field of the body that names it
   * @throws ApiError conversation_not_found
   */
  async require(asker: Asker, id: string, param: string | null = null): Promise<StoredConversation> {
    const stored = await this.store.get(asker, id);
    if (stored === null || !('conversation' in stored)) throw notFound(id, param);
    return stored;
  }

  /** @throws ApiError conversation_not_found, request_too_large */
  async setMetadata(asker: Asker, id: string, metadata: Metadata): Promise<ConversationBody> {
    const changed = await this.#change(asker, id, (before) => ({
      ...before,
      conversation: { ...before.conversation, metadata },
    }));
    return changed.conversation;
  }

  /** @throws ApiError conversation_not_found */
  async delete(asker: Asker, id: string): Promise<void> {
    await this.require(asker, id);
    await this.store.delete(asker.owner, id);
  }

  /**
   * As they are stored, each with an id of its own.
   * @throws ApiError conversation_not_found, request_too_large, invalid_request
   */
  async add(asker: Asker, id: string, items: readonly RawItem[]): Promise<readonly StoredItem[]> {
    const source = `resp_${newHex()}`;
    const changed = await this.append(asker, id, source, items.map(unnamed), maxItems);
    return changed.items.filter((item) => responseOf(item.id) === source);
  }

  /**
   * Adds what a response was asked and has answered.
   * @param source the response
   * @param most items that the conversation may have then
   * @throws ApiError conversation_not_found, request_too_large, invalid_request
   */
  append(
    asker: Asker,
    id: string,
    source: string,
    items: readonly RawItem[],
    most = Infinity,
  ): Promise<StoredConversation> {
    return this.#change(asker, id, (before) => {
      // The answer to a write that added them was lost.
      if (before.items.some((item) => responseOf(item.id) === source)) return before;
      const count = before.items.length + items.length;
      if (count > most) throw tooMany(count, most);
      return { ...before, items: [...before.items, ...storedItems(items, source, before.items)] };
    });
  }

  /** @throws ApiError conversation_not_found, item_not_found */
  async requireItem(asker: Asker, id: string, itemId: string): Promise<StoredItem> {
    const item = (await this.require(asker, id)).items.find((each) => each.id === itemId);
    if (item === undefined) throw itemNotFound(id, itemId);
    return item;
  }

  /** @throws ApiError conversation_not_found, item_not_found */
  async deleteItem(asker: Asker, id: string, itemId: string): Promise<ConversationBody> {
    const changed = await this.#change(asker, id, (before) => {
      const items = before.items.filter((item) => item.id !== itemId);
      if (items.length === before.items.length) throw itemNotFound(id, itemId);
      return { ...before, items };
    });
    return changed.conversation;
  }

  async #change(
    asker: Asker,
    id: string,
    make: (before: StoredConversation) => StoredConversation,
  ): Promise<StoredConversation> {
    const changed = await this.store.change(asker, id, (before) => {
      if (!('conversation' in before)) throw notFound(id);
      return make(before);
    });
    if (changed === 'too large') throw tooLarge();
    if (changed === 'missing' || !('conversation' in changed)) throw notFound(id);
    return changed;
  }
}

const newHex = (): string => randomUUID().replaceAll('-', '');

/** Without an id that its client has for it: another conversation may have it too. */
const unnamed = (item: RawItem): RawItem & { readonly id: null } => ({ ...item, id: null });

function notFound(id: string, param: string | null = null): ApiError {
  const why = 'it was not created under this API key, or was deleted, or evicted by what is newer or its age';
  return ApiError.of('conversation_not_found', `Conversation with id '${id}' not found: ${why}`, { param });
}

const itemNotFound = (id: string, itemId: string): ApiError =>
  ApiError.of('item_not_found', `Item with id '${itemId}' not found in conversation '${id}'`);

function tooMany(count: number, most: number): ApiError {
  const why = `would make ${String(count)} items of the conversation; the limit is ${String(most)}`;
  return invalidRequest([violationAt('items', why)]);
}

const tooLarge = (): ApiError =>
  ApiError.of(
    'request_too_large',
    'the conversation has no room for more: one takes at most an eighth of --stored-responses-bytes ' +
      '(server.storedResponses.maxBytes), and at most 4 MiB: delete items of it, or create another',
  );

const noConditions =
  'no conversations are kept here: the S3 of --stored-responses-uri (server.storedResponses) ignores If-Match, so that ' +
  'responses at the same time would lose what others add: send previous_response_id, or the items as input';
