// Stores a response once it has its answer, before its client is sent the end: the client may continue it at once.

import type { ApiError } from '../../request/body/api-error.js';
import type { TextDelta } from '../../request/text/text-stream.js';
import type { Usage } from '../generation/generation.js';
import type { ResponseBody } from '../stored-responses/stored-response.js';
import type { AnswerWriter } from './answer-protocol.js';
import type { WholeChoice } from './answer-shape.js';
import type { ResponseWriter } from './responses-protocol.js';

export class StoringWriter implements AnswerWriter {
  /** @param keep is called with the writer once it has the whole response; it must not throw */
  constructor(
    private readonly writer: ResponseWriter,
    private readonly keep: (writer: ResponseWriter) => Promise<void>,
  ) {}

  delta(index: number, delta: TextDelta): string[] {
    return this.writer.delta(index, delta);
  }

  async end(usage: Usage): Promise<string[]> {
    const events = this.writer.end(usage);
    await this.keep(this.writer);
    return events;
  }

  /** What failed on its way cannot be continued, and its client knows. */
  failure(error: ApiError): string[] {
    return this.writer.failure(error);
  }

  async whole(choices: readonly WholeChoice[]): Promise<ResponseBody> {
    const response = this.writer.whole(choices);
    await this.keep(this.writer);
    return response;
  }
}
