// OpenAI's chat and text completions: each delta is a chunk, a whole answer in small.

import type { ApiError } from '../../request/body/api-error.js';
import { parseRequest, type ApiRequest } from '../../request/parse/parse-request.js';
import type { TextDelta } from '../../request/text/text-stream.js';
import type { AnswerProtocol, AnswerWriter, UsageSoFar } from './answer-protocol.js';
import { CustomInputs } from './custom-inputs.js';
import { usageBody, type AnswerHead, type AnswerShape, type WholeChoice } from './answer-shape.js';
import type { Usage } from '../generation/generation.js';
import { placesOf, type TokenTexts } from './logprob-shapes.js';
import { onePerCall } from './one-per-call.js';
import { commentEvent, doneEvent, plainEvent } from './sse-event.js';
import type { TextPlaces } from './text-places.js';

export function chunkProtocol(kind: 'chat' | 'completions', shape: AnswerShape): AnswerProtocol {
  return {
    idPrefix: shape.idPrefix,
    idHeaders: [],
    keepAlive: commentEvent,
    wordings: [],
    read(body, defaults, randomSeed) {
      const parsed = parseRequest(kind, body, defaults, randomSeed);
      const usageOnLastChunk = shape.usageOnLastChunk || defaults.compatibility.usageOnLastChunk;
      return {
        parsed,
        writer: (head, texts) => new ChunkWriter(shape, parsed, usageOnLastChunk, head, texts),
      };
    },
  };
}

class ChunkWriter implements AnswerWriter {
  /** Choices that have begun. */
  private readonly begun = new Set<number>();
  /** In the text of each choice of which places were asked for. */
  private readonly places: TextPlaces[] = [];
  /** Of each choice that may call custom tools. */
  private readonly inputs: CustomInputs[] = [];
  private unfinished: number;

  constructor(
    private readonly shape: AnswerShape,
    private readonly parsed: ApiRequest,
    private readonly usageOnLastChunk: boolean,
    private readonly head: AnswerHead,
    private readonly texts: TokenTexts,
  ) {
    this.unfinished = parsed.prompts.length * parsed.choices.generated;
  }

  delta(index: number, delta: TextDelta, usage: UsageSoFar): string[] {
    const { shape, parsed, head, texts } = this;
    if (delta.finish !== null) this.unfinished -= 1;
    const isLast = this.usageOnLastChunk && !parsed.includeUsage && this.unfinished === 0;
    const eachChunk = parsed.continuousUsage ? usage.own() : null;
    // As vLLM counts: none of the answer's tokens are in what goes before them.
    const before = eachChunk === null ? null : { ...eachChunk, completionTokens: 0, reasoningTokens: 0 };
    const opening = this.begun.has(index) ? null : shape.opening(head, index, delta, texts);
    this.begun.add(index);
    const places = (): TextPlaces => (this.places[index] ??= placesOf(texts));
    const said = opening === null ? delta : { ...delta, promptTokenIds: null };
    const parts = delta.toolCalls.length === 0 ? [said] : this.calls(index, said);
    const last = parts.length - 1;
    const chunks = parts.map((part, i) =>
      this.event(
        shape.chunk(head, index, part, places, texts),
        isLast && i === last ? usage.all() : eachChunk,
      ),
    );
    return [...(opening === null ? [] : [this.event(opening, before)]), ...chunks];
  }

  end(usage: Usage): string[] {
    const { shape, parsed, head } = this;
    return [...(parsed.includeUsage ? [this.event(shape.emptyChunk(head), usage)] : []), doneEvent];
  }

  /** Where the usage is asked for, chunks without it have a null, as OpenAI sends it. */
  private event(chunk: object, usage: Usage | null): string {
    if (usage === null && !this.parsed.includeUsage) return plainEvent(chunk);
    return plainEvent({ ...chunk, usage: usage === null ? null : usageBody(usage) });
  }

  /** OpenAI's error body, and no [DONE]. */
  failure(error: ApiError): string[] {
    return [plainEvent(error.body)];
  }

  whole(choices: readonly WholeChoice[]): object {
    const { custom } = this;
    const said = custom === null ? choices : choices.map((choice) => new CustomInputs(custom).of(choice));
    return this.shape.whole(this.head, said, this.texts);
  }

  /** A delta with calls. */
  private calls(index: number, delta: TextDelta): TextDelta[] {
    const { custom } = this;
    if (custom === null) return onePerCall(delta);
    return onePerCall((this.inputs[index] ??= new CustomInputs(custom)).of(delta));
  }

  /** Names of the custom tools that the answer may call; null: it may call none. */
  private get custom(): ReadonlySet<string> | null {
    const custom = this.parsed.tools?.custom;
    return custom === undefined || custom.size === 0 ? null : custom;
  }
}
