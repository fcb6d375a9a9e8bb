// OpenAI's Responses: an answer is items of reasoning, text and calls of functions; on a stream each of them is added,
// grown and done by numbered events, between events of the response itself.

import type { ApiError } from '../../request/body/api-error.js';
import {
  parseResponses,
  responsesWordings,
  type ResponsesRequest,
} from '../../request/parse/parse-responses.js';
import type { TextDelta } from '../../request/text/text-stream.js';
import { AnswerParts, type AnswerPart } from './answer-parts.js';
import type { AnswerProtocol, AnswerWriter } from './answer-protocol.js';
import { addUsage, type AnswerHead, type WholeChoice } from './answer-shape.js';
import type { Usage } from '../generation/generation.js';
import { CustomInputs } from './custom-inputs.js';
import type { TokenTexts } from './logprob-shapes.js';
import { responseBody, stateAtEnd, type ResponseState } from './response-body.js';
import { itemEvents, itemOf, type ItemsOf, type ItemStatus } from './response-output.js';
import { commentEvent, typedEvent, type TypedData } from './sse-event.js';

export const responsesProtocol: AnswerProtocol = {
  idPrefix: 'resp_',
  idHeaders: [],
  keepAlive: commentEvent,
  wordings: responsesWordings,
  read(body, defaults, randomSeed) {
    const request = parseResponses(body, defaults, randomSeed);
    return { parsed: request.parsed, writer: (head, texts) => new ResponseWriter(request, head, texts) };
  },
};

class ResponseWriter implements AnswerWriter {
  private readonly parts = new AnswerParts();
  private state: ResponseState = { status: 'in_progress' };
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
    if (delta.finish !== null) this.state = stateAtEnd(delta);
    return [
      ...start,
      ...events
        .flatMap((event) => itemEvents(event, this.itemsOf, this.statusOf(event.part, this.parts.all)))
        .map((event) => this.event(event)),
    ];
  }

  end(usage: Usage): string[] {
    return [this.last(usage)];
  }

  failure(error: ApiError): string[] {
    const start = this.start();
    this.state = { status: 'failed', error };
    return [...start, this.last(null)];
  }

  whole([choice, ...others]: readonly WholeChoice[]): object {
    if (choice === undefined) throw new Error('a response has one choice');
    this.state = stateAtEnd(choice);
    return this.body(
      AnswerParts.of(choice.deltas.map((delta) => this.inputs.of(delta))),
      addUsage([choice, ...others].map(({ usage }) => usage)),
    );
  }

  /** What comes before all else: clients take no other event first. */
  private start(): string[] {
    if (this.sent > 0) return [];
    const response = this.body([], null);
    return ['response.created', 'response.in_progress'].map((type) => this.event({ type, response }));
  }

  private last(usage: Usage | null): string {
    return this.event({ type: `response.${this.state.status}`, response: this.body(this.parts.all, usage) });
  }

  private body(parts: readonly AnswerPart[], usage: Usage | null): object {
    const output = parts.map((part) => itemOf(part, this.itemsOf, this.statusOf(part, parts)));
    return responseBody(this.request, this.head, this.state, output, usage);
  }

  /** Of a part that nothing more is added to. */
  private statusOf(part: AnswerPart, all: readonly AnswerPart[]): ItemStatus {
    const isCut = this.state.status === 'incomplete' || this.state.status === 'failed';
    return isCut && part.index === all.length - 1 ? 'incomplete' : 'completed';
  }

  private event(event: TypedData): string {
    return typedEvent({ ...event, sequence_number: this.sent++ });
  }
}
