// OpenAI's Responses: an answer is items of reasoning, text and calls of functions; on a stream each of them is added,
// grown and done by numbered events, between events of the response itself.

import type { ApiError } from '../../request/body/api-error.js';
import type { GenerationDefaults } from '../../request/fields/generation-defaults.js';
import type { EarlierItems } from '../../request/parse/earlier-items.js';
import {
  parseResponses,
  responsesWordings,
  type ResponsesRequest,
} from '../../request/parse/parse-responses.js';
import type { TextDelta } from '../../request/text/text-stream.js';
import { AnswerParts, type AnswerPart } from './answer-parts.js';
import type { AnswerProtocol, AnswerWriter, ReadRequest } from './answer-protocol.js';
import { addUsage, type AnswerHead, type WholeChoice } from './answer-shape.js';
import type { Usage } from '../generation/generation.js';
import { CustomInputs } from './custom-inputs.js';
import type { TokenTexts } from './logprob-shapes.js';
import { responseBody, stateAtEnd, type ResponseState } from './response-body.js';
import { itemEvents, itemOf, type ItemsOf, type ItemStatus } from './response-output.js';
import { commentEvent, typedEvent, type TypedData } from './sse-event.js';
import { storedItems } from '../stored-responses/stored-items.js';
import type { ResponseBody, StoredItem } from '../stored-responses/stored-response.js';

const cutStates: ReadonlySet<ResponseState['status']> = new Set(['incomplete', 'failed', 'cancelled']);

/** Where nothing is stored. */
export const responsesProtocol = {
  idPrefix: 'resp_',
  idHeaders: [],
  keepAlive: commentEvent,
  wordings: responsesWordings,
  read: (body: unknown, defaults: GenerationDefaults, randomSeed: bigint) =>
    readResponses(body, defaults, randomSeed, null),
} satisfies AnswerProtocol;

/** @param earlier null: nothing is stored here */
export function readResponses(
  body: unknown,
  defaults: GenerationDefaults,
  randomSeed: bigint,
  earlier: EarlierItems | null,
): ReadRequest<ResponseWriter> {
  const request = parseResponses(body, defaults, randomSeed, earlier);
  return { parsed: request.parsed, writer: (head, texts) => new ResponseWriter(request, head, texts) };
}

export class ResponseWriter implements AnswerWriter {
  private readonly parts = new AnswerParts();
  private state: ResponseState = { status: 'in_progress' };
  private usage: Usage | null = null;
  private hasStarted = false;
  /** Events so far. */
  private sent = 0;
  private readonly itemsOf: ItemsOf;
  private readonly inputs: CustomInputs;

  constructor(
    private readonly request: ResponsesRequest,
    private readonly head: AnswerHead,
    texts: TokenTexts,
  ) {
    const { sealsReasoning, namespaced, custom } = request;
    this.inputs = new CustomInputs(custom);
    this.itemsOf = { id: head.id, sealsReasoning, namespaced, custom, texts };
  }

  delta(_index: number, delta: TextDelta): string[] {
    const start = this.start();
    const events = this.parts.take(this.inputs.of(delta));
    if (delta.finish !== null) this.state = stateAtEnd(delta, this.parts.all.at(-1));
    return [
      ...start,
      ...events
        .flatMap((event) => itemEvents(event, this.itemsOf, this.statusOf(event.part)))
        .map((event) => this.event(event)),
    ];
  }

  /** Whether its client wants the response to be stored. */
  get stores(): boolean {
    return this.request.stores;
  }

  /** As it is now. */
  get response(): ResponseBody {
    const output = this.parts.all.map((part) => itemOf(part, this.itemsOf, this.statusOf(part)));
    return responseBody(this.request, this.head, this.state, output, this.usage);
  }

  /** What it is generated from. */
  get items(): StoredItem[] {
    return storedItems(this.request.items, this.head.id);
  }

  /** Of one that waits in the background, before all else. */
  queued(): string[] {
    this.state = { status: 'queued' };
    return this.announce('response.created', 'response.queued');
  }

  end(usage: Usage): string[] {
    this.usage = usage;
    return [this.last()];
  }

  failure(error: ApiError): string[] {
    const start = this.start();
    const isCancelled = this.request.fields.background === true && error.code === 'request_cancelled';
    this.state = isCancelled ? { status: 'cancelled' } : { status: 'failed', error };
    return [...start, this.last()];
  }

  whole([choice, ...others]: readonly WholeChoice[]): ResponseBody {
    if (choice === undefined) throw new Error('a response has one choice');
    for (const delta of choice.deltas) this.parts.take(this.inputs.of(delta));
    this.state = stateAtEnd(choice, this.parts.all.at(-1));
    this.usage = addUsage([choice, ...others].map(({ usage }) => usage));
    return this.response;
  }

  /** What comes before all else: clients take no other event first. */
  private start(): string[] {
    if (this.hasStarted) return [];
    this.hasStarted = true;
    this.state = { status: 'in_progress' };
    return this.announce(...(this.sent === 0 ? ['response.created'] : []), 'response.in_progress');
  }

  private announce(...types: readonly string[]): string[] {
    const { response } = this;
    return types.map((type) => this.event({ type, response }));
  }

  /** OpenAI has no event of a response that was cancelled: clients know the end of one that is incomplete. */
  private last(): string {
    const { status } = this.state;
    const type = `response.${status === 'cancelled' ? 'incomplete' : status}`;
    return this.event({ type, response: this.response });
  }

  /** Of a part that nothing more is added to. */
  private statusOf(part: AnswerPart): ItemStatus {
    const isCut = cutStates.has(this.state.status);
    return isCut && part.index === this.parts.all.length - 1 ? 'incomplete' : 'completed';
  }

  private event(event: TypedData): string {
    return typedEvent({ ...event, sequence_number: this.sent++ });
  }
}
