// Every way a request can be refused, in one table: the code that clients see, its HTTP status and OpenAI's type.

import { failureKinds, type Failure } from '@llmservice/crds';

export const errorCodes = {
  invalid_request: { status: 400, type: 'invalid_request_error' },
  context_length_exceeded: { status: 400, type: 'invalid_request_error' },
  tools_not_supported: { status: 400, type: 'invalid_request_error' },
  chat_template_refused: { status: 400, type: 'invalid_request_error' },
  request_aborted: { status: 400, type: 'invalid_request_error' },
  invalid_api_key: { status: 401, type: 'invalid_request_error' },
  client_certificate_required: { status: 401, type: 'authentication_error' },
  model_not_allowed: { status: 403, type: 'invalid_request_error' },
  model_not_found: { status: 404, type: 'invalid_request_error' },
  route_not_found: { status: 404, type: 'invalid_request_error' },
  method_not_allowed: { status: 405, type: 'invalid_request_error' },
  request_cancelled: { status: 409, type: 'invalid_request_error' },
  model_already_loaded: { status: 409, type: 'invalid_request_error' },
  request_timeout: { status: 408, type: 'invalid_request_error' },
  request_too_large: { status: 413, type: 'invalid_request_error' },
  rate_limit_exceeded: { status: 429, type: 'rate_limit_error' },
  queue_full: { status: 429, type: 'rate_limit_error' },
  headers_too_large: { status: 431, type: 'invalid_request_error' },
  internal_error: { status: 500, type: 'server_error' },
  model_not_ready: { status: 503, type: 'server_error' },
  server_busy: { status: 503, type: 'server_error' },
  draining: { status: 503, type: 'server_error' },
} as const satisfies Record<string, { status: number; type: string }>;

export type ErrorCode = keyof typeof errorCodes;

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

/** An answer that is an error: `code` is one of the table's, or the reason of a failure of the service. */
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
  ) {
    super(message);
  }

  static of(
    code: ErrorCode,
    message: string,
    {
      param = null,
      retryAfterSeconds = null,
    }: { param?: string | null; retryAfterSeconds?: number | null } = {},
  ): ApiError {
    const { status, type } = errorCodes[code];
    return new ApiError(status, type, code, message, param, retryAfterSeconds);
  }

  /** A failure reported with its remedy: of the service, or of the request where that is known only in the engine. */
  static ofFailure(failure: Failure): ApiError {
    const { httpStatus, remedy, terminal } = failureKinds[failure.reason];
    const message = `${failure.message}. ${remedy}`;
    const ofRequest = httpStatus < 500;
    const type = ofRequest ? 'invalid_request_error' : 'server_error';
    const retryAfterSeconds = terminal || ofRequest ? null : 1;
    return new ApiError(httpStatus, type, failure.reason, message, null, retryAfterSeconds);
  }

  /** The same in the words of a client's protocol. */
  worded(wordings: readonly Wording[]): ApiError {
    const word = (text: string): string =>
      wordings.reduce((worded, { ours, theirs }) => worded.replace(ours, theirs), text);
    const param = this.param === null ? null : word(this.param);
    const { status, type, code, retryAfterSeconds } = this;
    return new ApiError(status, type, code, word(this.message), param, retryAfterSeconds);
  }

  /** The same of a body that stands inside of another, at `place`. */
  within(place: string): ApiError {
    const param = this.param === null ? place : `${place}.${this.param}`;
    const { status, type, code, retryAfterSeconds } = this;
    return new ApiError(status, type, code, `${place}: ${this.message}`, param, retryAfterSeconds);
  }

  get body(): ErrorBody {
    return { error: { message: this.message, type: this.type, param: this.param, code: this.code } };
  }
}
