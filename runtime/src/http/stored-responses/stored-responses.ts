// The responses of one server that clients come back for: those that run in the background, and those that are stored.

import { setTimeout as wait } from 'node:timers/promises';
import { ApiError } from '../../request/body/api-error.js';
import { earlierNames, type Continued, type EarlierItems } from '../../request/parse/earlier-items.js';
import type { RawItem } from '../../request/fields/responses-input.js';
import { EventLog } from './event-log.js';
import { asFound, RunBeats } from './run-beats.js';
import { StoredConversations } from './stored-conversations.js';
import { responseOf } from './stored-items.js';
import type {
  Asker,
  ConversationTurn,
  ResponseBody,
  ResponseStore,
  StoredItem,
  StoredResponse,
} from './stored-response.js';

/** Responses whose items one request may refer to; each has the items of those before it too. */
const maxReferred = 16;

/** @param key id of the API key that asks; null: none is asked for, and all clients share what is stored */
export const ownerOf = (key: string | null): string => key ?? '';

/** A response that runs in the background. */
interface BackgroundRun {
  readonly owner: string;
  readonly id: string;
  readonly items: readonly StoredItem[];
  /** As it is now. */
  readonly response: () => ResponseBody;
  /** Null: its client did not ask for a stream. */
  readonly log: EventLog | null;
  /** Ends it soon. */
  readonly cancel: () => void;
  /** Once it is stored. */
  readonly ended: Promise<void>;
}

export class StoredResponses {
  readonly conversations: StoredConversations;
  readonly #runs = new Map<string, BackgroundRun>();

  /** @param clock Unix time in milliseconds */
  constructor(
    private readonly store: ResponseStore,
    private readonly clock: () => number = Date.now,
  ) {
    this.conversations = new StoredConversations(store, clock);
  }

  /**
   * A response is found from now on.
   * @param work writes it
   * @param keep stores it once it is written; does not throw
   * @returns when other processes find it too, where they share the store, and when it is kept
   */
  run(
    run: Omit<BackgroundRun, 'ended'>,
    work: Promise<void>,
    keep: () => Promise<void>,
  ): { readonly found: Promise<unknown>; readonly kept: Promise<void> } {
    const { owner, id, items, response } = run;
    const beat = (): Promise<unknown> => {
      const stored = { response: response(), items, events: null, aliveAtMs: this.clock() };
      // The next one may arrive.
      return this.store.put(owner, stored).catch(() => false);
    };
    const beats = this.store.isShared ? new RunBeats(beat) : null;
    const kept = work
      .finally(() => beats?.stop())
      .then(keep)
      .finally(() => this.#runs.delete(id));
    this.#runs.set(id, { ...run, ended: kept });
    return { found: beats?.first ?? Promise.resolve(), kept };
  }

  /** Running or stored. @throws ApiError response_not_found */
  async require(asker: Asker, id: string): Promise<StoredResponse> {
    const found = await this.#find(asker, id);
    if (found === null) throw notFound(id);
    return found;
  }

  /**
   * Null: it was not streamed in the background.
   * @throws ApiError response_not_found; server_busy: another process runs it
   */
  async eventsOf(asker: Asker, id: string): Promise<EventLog | null> {
    const run = this.#running(asker, id);
    if (run !== null) return run.log;
    const { response, events } = await this.require(asker, id);
    if (!isOver(response)) throw runsElsewhere();
    return events === null ? null : EventLog.of(events);
  }

  /**
   * False: it is too large.
   * @param waitsMs before it is tried again, and again
   * @throws ApiError server_busy: the store was out of reach every time
   */
  put(owner: string, stored: StoredResponse, waitsMs: readonly number[] = []): Promise<boolean> {
    return patiently(waitsMs, () => this.store.put(owner, stored));
  }

  /**
   * Adds a response that has ended to its conversation.
   * @param waitsMs as of `put`
   * @throws ApiError server_busy, conversation_not_found, request_too_large
   */
  async converse(
    owner: string,
    { id, responseId, items }: ConversationTurn,
    waitsMs: readonly number[],
  ): Promise<void> {
    // What it was asked is held as a body already.
    const asker = { owner, take: () => undefined };
    await patiently(waitsMs, () => this.conversations.append(asker, id, responseId, items));
  }

  /** One that runs is cancelled. @throws ApiError response_not_found */
  async delete(asker: Asker, id: string): Promise<void> {
    await this.cancel(asker, id);
    await this.store.delete(asker.owner, id);
  }

  /**
   * One that runs ends as far as it came; one that has ended is as it is.
   * @throws ApiError response_not_found; server_busy: another process runs it
   */
  async cancel(asker: Asker, id: string): Promise<ResponseBody> {
    const run = this.#running(asker, id);
    if (run === null) {
      const { response } = await this.require(asker, id);
      if (isOver(response)) return response;
      throw runsElsewhere();
    }
    run.cancel();
    await run.ended;
    return run.response();
  }

  /**
   * What a body that may be invalid yet names of what is stored.
   * @throws ApiError previous_response_not_found, conversation_not_found, invalid_request
   */
  async earlier(asker: Asker, body: unknown): Promise<EarlierItems> {
    const { continued, itemIds } = earlierNames(body);
    return {
      conversation: continued === null ? [] : await this.#continued(asker, continued),
      referenced: await this.#referenced(asker, itemIds),
    };
  }

  async #continued(asker: Asker, { kind, id }: Continued): Promise<readonly RawItem[]> {
    return kind === 'response'
      ? this.#previous(asker, id)
      : (await this.conversations.require(asker, id, 'conversation')).items;
  }

  async #previous(asker: Asker, id: string): Promise<readonly RawItem[]> {
    const param = 'previous_response_id';
    const found = await this.#find(asker, id);
    if (found === null) {
      const message = `Previous response with id '${id}' not found (${param}): ${whyNot}; send the conversation as input`;
      throw ApiError.of('previous_response_not_found', message, { param });
    }
    const { status, output } = found.response;
    if (status !== 'completed' && status !== 'incomplete') {
      const message = `${param} names a response that is ${status}: only one that has its answer can be continued`;
      throw ApiError.of('invalid_request', message, { param });
    }
    return [...found.items, ...output];
  }

  /** The last one has most of them: each response has the items of those before it. */
  async #referenced(asker: Asker, itemIds: readonly string[]): Promise<Map<string, RawItem>> {
    const found = new Map<string, RawItem>();
    const asked = new Set<string>();
    for (const itemId of itemIds.toReversed()) {
      const id = responseOf(itemId);
      if (found.has(itemId) || id === null || asked.has(id)) continue;
      asked.add(id);
      if (asked.size > maxReferred) {
        const message = `input refers to items of more than ${String(maxReferred)} responses: send the items themselves, or previous_response_id`;
        throw ApiError.of('invalid_request', message, { param: 'input' });
      }
      // Of one that still runs here, nobody has counted the bytes.
      const stored = await this.#stored(asker, id);
      for (const item of [...(stored?.items ?? []), ...(stored?.response.output ?? [])])
        found.set(item.id, item);
    }
    return found;
  }

  /** Null: no such response runs here. */
  #running({ owner }: Asker, id: string): BackgroundRun | null {
    const run = this.#runs.get(id);
    return run?.owner === owner ? run : null;
  }

  async #find(asker: Asker, id: string): Promise<StoredResponse | null> {
    const run = this.#running(asker, id);
    if (run !== null) {
      const { items, log } = run;
      return { response: run.response(), items, events: log?.events ?? null, aliveAtMs: this.clock() };
    }
    const stored = await this.#stored(asker, id);
    return stored === null ? null : asFound(stored, this.clock());
  }

  async #stored(asker: Asker, id: string): Promise<StoredResponse | null> {
    const stored = await this.store.get(asker, id);
    return stored !== null && 'response' in stored ? stored : null;
  }
}

/** @param waitsMs before it is tried again where the store is out of reach, and again */
async function patiently<T>(waitsMs: readonly number[], attempt: () => Promise<T>): Promise<T> {
  for (const waitMs of waitsMs) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof ApiError && error.code === 'server_busy')) throw error;
      await wait(waitMs);
    }
  }
  return attempt();
}

const isOver = ({ status }: ResponseBody): boolean => status !== 'queued' && status !== 'in_progress';

const runsElsewhere = (): ApiError =>
  ApiError.of(
    'server_busy',
    'another pod of the service runs the response: send the request again, to reach that one',
    { retryAfterSeconds: 1 },
  );

const whyNot = 'it was not stored under this API key, or was deleted, or evicted by newer ones or its age';

const notFound = (id: string): ApiError =>
  ApiError.of('response_not_found', `Response with id '${id}' not found: ${whyNot}`);
