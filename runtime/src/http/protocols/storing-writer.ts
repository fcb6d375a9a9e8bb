// Stores a response once it has its answer, before its client is sent the end: the client may continue it at once. One that
// cannot be added to its conversation fails: its client would take it for a part of what follows.

import type { ApiError } from '../../request/body/api-error.js';
import type { TextDelta } from '../../request/text/text-stream.js';
import type { Usage } from '../generation/generation.js';
import type { ResponseBody } from '../stored-responses/stored-response.js';
import type { AnswerWriter } from './answer-protocol.js';
import type { WholeChoice } from './answer-shape.js';
import type { ResponseWriter } from './responses-protocol.js';

/** What is done with a response that has its answer. */
export interface AtEnd {
  /** Adds it to its conversation, where it belongs to one. @throws ApiError */
  readonly converse: (writer: ResponseWriter) => Promise<void>;
  /** Stores it, with the events of its stream in the background. Does not throw. */
  readonly keep: (writer: ResponseWriter, events?: readonly string[]) => Promise<void>;
}

export class StoringWriter implements AnswerWriter {
  constructor(
    private readonly writer: ResponseWriter,
    private readonly atEnd: AtEnd,
  ) {}

  delta(index: number, delta: TextDelta): string[] {
    return this.writer.delta(index, delta);
  }

  async end(usage: Usage): Promise<string[]> {
    await this.atEnd.converse(this.writer);
    const events = this.writer.end(usage);
    await this.atEnd.keep(this.writer);
    return events;
  }

  /** What failed on its way cannot be continued, and its client knows. */
  failure(error: ApiError): string[] {
    return this.writer.failure(error);
  }

  async whole(choices: readonly WholeChoice[]): Promise<ResponseBody> {
    const response = this.writer.whole(choices);
    await this.atEnd.converse(this.writer);
    await this.atEnd.keep(this.writer);
    return response;
  }
}
