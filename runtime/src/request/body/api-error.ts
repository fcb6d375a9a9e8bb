// An answer that is an error, by the contract's table of codes or by the reason of a failure of the service.

import { failureKinds, replicaErrors, type Failure, type ReplicaErrorCode } from '@llmservice/crds';
import type { Fields } from './field-table.js';

/** OpenAI's error body. */
export interface ErrorBody {
  readonly error: {
    readonly message: string;
    readonly type: string;
    readonly param: string | null;
    readonly code: string;
  };
}

/** What an error calls a field, or says, in our words and in those of a client's protocol. */
export interface Wording {
  readonly ours: RegExp;
  readonly theirs: string;
}

export class ApiError extends Error {
  override readonly name = 'ApiError';

  private constructor(
    readonly status: number,
    readonly type: string,
    readonly code: string,
    message: string,
    readonly param: string | null,
    /** Seconds for the Retry-After header; null: trying again does not help, or nobody knows when. */
    readonly retryAfterSeconds: number | null,
    /** What a client of Anthropic's can act on; null: the message says all. */
    readonly details: Fields | null = null,
  ) {
    super(message);
  }

  static of(
    code: ReplicaErrorCode,
    message: string,
    {
      param = null,
      retryAfterSeconds = null,
      details = null,
    }: { param?: string | null; retryAfterSeconds?: number | null; details?: Fields | null } = {},
  ): ApiError {
    const { status, type } = replicaErrors[code];
    return new ApiError(status, type, code, message, param, retryAfterSeconds, details);
  }

  /** A failure reported with its remedy: of the service, or of the request where that is known only in the engine. */
  static ofFailure(failure: Failure): ApiError {
    const { httpStatus, remedy, terminal } = failureKinds[failure.reason];
    const message = `${failure.message.replace(/\.$/, '')}. ${remedy}`;
    const ofRequest = httpStatus < 500;
    const type = ofRequest ? 'invalid_request_error' : 'server_error';
    const retryAfterSeconds = terminal || ofRequest ? null : 1;
    return new ApiError(httpStatus, type, failure.reason, message, null, retryAfterSeconds);
  }

  /** The same in the words of a client's protocol. */
  worded(wordings: readonly Wording[]): ApiError {
    const word = (text: string): string =>
      wordings.reduce((worded, { ours, theirs }) => worded.replace(ours, theirs), text);
    return this.#saying(word(this.message), this.param === null ? null : word(this.param));
  }

  /** The same of a body that stands inside of another, at `place`. */
  within(place: string): ApiError {
    const param = this.param === null ? place : `${place}.${this.param}`;
    return this.#saying(`${place}: ${this.message}`, param);
  }

  #saying(message: string, param: string | null): ApiError {
    const { status, type, code, retryAfterSeconds, details } = this;
    return new ApiError(status, type, code, message, param, retryAfterSeconds, details);
  }

  get body(): ErrorBody {
    return { error: { message: this.message, type: this.type, param: this.param, code: this.code } };
  }
}
