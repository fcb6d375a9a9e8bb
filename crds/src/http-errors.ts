// Every way a request can be refused, in one table for replicas, activator and router: the code that clients see, its HTTP
// status and OpenAI's type. 429 is a limit of the client's own key, 503 a service without room, as OpenAI, Anthropic (529)
// and vLLM (--max-num-queued-reqs) have it; OpenAI's and Anthropic's clients try both again by themselves.

interface HttpError {
  readonly status: number;
  /** In OpenAI's error body. */
  readonly type: string;
}

const ofBoth = {
  invalid_request: { status: 400, type: 'invalid_request_error' },
  request_too_large: { status: 413, type: 'invalid_request_error' },
  model_not_ready: { status: 503, type: 'server_error' },
  queue_full: { status: 503, type: 'server_error' },
  draining: { status: 503, type: 'server_error' },
} as const satisfies Record<string, HttpError>;

/** What replicas answer. A failure of the service has its reason as its code (failures.ts). */
export const replicaErrors = {
  ...ofBoth,
  context_length_exceeded: { status: 400, type: 'invalid_request_error' },
  tools_not_supported: { status: 400, type: 'invalid_request_error' },
  task_not_supported: { status: 400, type: 'invalid_request_error' },
  chat_template_refused: { status: 400, type: 'invalid_request_error' },
  request_aborted: { status: 400, type: 'invalid_request_error' },
  previous_response_not_found: { status: 400, type: 'invalid_request_error' },
  invalid_api_key: { status: 401, type: 'invalid_request_error' },
  client_certificate_required: { status: 401, type: 'authentication_error' },
  model_not_allowed: { status: 403, type: 'invalid_request_error' },
  model_not_found: { status: 404, type: 'invalid_request_error' },
  response_not_found: { status: 404, type: 'invalid_request_error' },
  conversation_not_found: { status: 404, type: 'invalid_request_error' },
  item_not_found: { status: 404, type: 'invalid_request_error' },
  file_not_found: { status: 404, type: 'invalid_request_error' },
  batch_not_found: { status: 404, type: 'invalid_request_error' },
  route_not_found: { status: 404, type: 'invalid_request_error' },
  method_not_allowed: { status: 405, type: 'invalid_request_error' },
  request_timeout: { status: 408, type: 'invalid_request_error' },
  request_cancelled: { status: 409, type: 'invalid_request_error' },
  model_already_loaded: { status: 409, type: 'invalid_request_error' },
  rate_limit_exceeded: { status: 429, type: 'rate_limit_error' },
  headers_too_large: { status: 431, type: 'invalid_request_error' },
  internal_error: { status: 500, type: 'server_error' },
  server_busy: { status: 503, type: 'server_error' },
} as const satisfies Record<string, HttpError>;
export type ReplicaErrorCode = keyof typeof replicaErrors;

/** What the activator answers for a service that may sleep. */
export const activatorErrors = {
  ...ofBoth,
  service_not_found: { status: 404, type: 'invalid_request_error' },
  upstream_failed: { status: 502, type: 'server_error' },
  upstream_unverified: { status: 502, type: 'server_error' },
  service_stopped: { status: 503, type: 'server_error' },
  service_over_budget: { status: 503, type: 'server_error' },
  service_failed: { status: 503, type: 'server_error' },
} as const satisfies Record<string, HttpError>;
export type ActivatorErrorCode = keyof typeof activatorErrors;

/** What the router of an LlmGateway answers by itself. */
export const routerErrors = {
  ...ofBoth,
  invalid_api_key: { status: 401, type: 'invalid_request_error' },
  model_not_found: { status: 404, type: 'invalid_request_error' },
  route_not_found: { status: 404, type: 'invalid_request_error' },
  method_not_allowed: { status: 405, type: 'invalid_request_error' },
  request_timeout: { status: 408, type: 'invalid_request_error' },
  rate_limit_exceeded: { status: 429, type: 'rate_limit_error' },
  upstream_failed: { status: 502, type: 'server_error' },
  upstream_unverified: { status: 502, type: 'server_error' },
} as const satisfies Record<string, HttpError>;
export type RouterErrorCode = keyof typeof routerErrors;

/** Anthropic's error type by status; other 4XX are invalid_request_error, other 5XX api_error. */
const anthropicTypes: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  408: 'timeout_error',
  409: 'conflict_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
};

export const anthropicErrorTypes: readonly string[] = [
  'invalid_request_error',
  'api_error',
  ...Object.values(anthropicTypes),
];

export function anthropicErrorType(status: number): string {
  return anthropicTypes[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error');
}

/** Anthropic's protocol, which has an error body of its own. */
const anthropicPaths: readonly string[] = ['/v1/messages', '/v1/messages/count_tokens'];

/** @param path without its query, with or without the prefix under which it repeats */
export function isAnthropicPath(path: string): boolean {
  const plain = path.toLowerCase().replace(/^\/openai\//, '/');
  return anthropicPaths.includes(plain.replace(/\/$/, ''));
}

/** The Open Inference Protocol, whose errors are a text. @param path without its query */
export function isInferencePath(path: string): boolean {
  return /^\/v2(\/(health|models)(\/|$)|\/?$)/i.test(path);
}
