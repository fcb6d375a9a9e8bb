// Every way in which the activator refuses a request, in the shape that the runtime's errors have.

const codes = {
  invalid_request: { status: 400, type: 'invalid_request_error' },
  service_not_found: { status: 404, type: 'invalid_request_error' },
  request_too_large: { status: 413, type: 'invalid_request_error' },
  upstream_failed: { status: 502, type: 'server_error' },
  upstream_unverified: { status: 502, type: 'server_error' },
  queue_full: { status: 503, type: 'server_error' },
  model_not_ready: { status: 503, type: 'server_error' },
  service_stopped: { status: 503, type: 'server_error' },
  service_over_budget: { status: 503, type: 'server_error' },
  service_failed: { status: 503, type: 'server_error' },
  draining: { status: 503, type: 'server_error' },
} as const;

export type ActivatorErrorCode = keyof typeof codes;

/** Anthropic's error type by status, as the runtime has it. */
const anthropicTypes: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  404: 'not_found_error',
  413: 'request_too_large',
  503: 'overloaded_error',
};

export class ActivatorError extends Error {
  override readonly name = 'ActivatorError';

  constructor(
    readonly code: ActivatorErrorCode,
    message: string,
    /** For the Retry-After header; null: trying again does not help. */
    readonly retryAfterSeconds: number | null = null,
  ) {
    super(message);
  }

  get status(): number {
    return codes[this.code].status;
  }

  /** As the clients of this path read it. */
  body(path: string): object {
    const { code, message, status } = this;
    const error = { type: codes[code].type, message, param: null, code };
    if (!isAnthropic(path)) return { error };
    return { type: 'error', error: { ...error, type: anthropicTypes[status] ?? 'api_error' } };
  }
}

/** A body that reports an error as an event of a stream. */
export function errorEvent(path: string, body: object): string {
  return `${isAnthropic(path) ? 'event: error\n' : ''}data: ${JSON.stringify(body)}\n\n`;
}

function isAnthropic(path: string): boolean {
  return /\/v1\/messages(\/|\?|$)/.test(path);
}
