// What makes one protocol of generated answers different from another, so that one route serves them all: how its bodies
// are read, and what its clients get, whole or event by event.

import type { ApiError, Wording } from '../../request/body/api-error.js';
import type { GenerationDefaults } from '../../request/fields/generation-defaults.js';
import type { ApiRequest } from '../../request/parse/parse-request.js';
import type { TextDelta } from '../../request/text/text-stream.js';
import type { AnswerHead, WholeChoice } from './answer-shape.js';
import type { Usage } from '../generation/generation.js';
import type { TokenTexts } from './logprob-shapes.js';

export interface AnswerProtocol<Writer extends AnswerWriter = AnswerWriter> {
  readonly idPrefix: string;
  /** Headers that carry the answer's id besides x-request-id. */
  readonly idHeaders: readonly string[];
  /** Sent after a while of silence on a stream. */
  readonly keepAlive: string;
  /** What errors call otherwise than we do. */
  readonly wordings: readonly Wording[];
  /** @throws ApiError invalid_request, with every violation */
  read(
    body: unknown,
    defaults: GenerationDefaults,
    randomSeed: bigint,
  ): ReadRequest<Writer> | Promise<ReadRequest<Writer>>;
}

/** A request, and what writes its answer. */
export interface ReadRequest<Writer extends AnswerWriter = AnswerWriter> {
  readonly parsed: ApiRequest;
  readonly writer: (head: AnswerHead, texts: TokenTexts) => Writer;
}

export interface UsageSoFar {
  /** Of all choices. */
  all(): Usage;
  /** Of the choice, as if it were the only one. */
  own(): Usage;
}

/** Writes the answer to one request, and remembers how far it is: its events as sse-event.ts spells them, or the whole. */
export interface AnswerWriter {
  /**
   * What a delta adds.
   * @param index of its choice
   * @param usage so far
   */
  delta(index: number, delta: TextDelta, usage: UsageSoFar): readonly string[];
  /** Behind the last delta. */
  end(usage: Usage): readonly string[] | Promise<readonly string[]>;
  /** In place of what would follow. */
  failure(error: ApiError): readonly string[];
  whole(choices: readonly WholeChoice[]): object | Promise<object>;
}
