// The API server's answer to a request that failed.

export class ApiError extends Error {
  override readonly name = 'ApiError';
  constructor(
    readonly status: number,
    message: string,
    /** Kubernetes' own word, such as NotFound, Conflict, Expired or Invalid. */
    readonly reason: string,
    /** For how long the server asks not to be asked again; null: it does not say. */
    readonly retryAfterMs: number | null = null,
  ) {
    super(message);
  }
}

/** Of meta/v1, what is read. */
interface Status {
  readonly message?: string;
  readonly reason?: string;
  readonly details?: { readonly retryAfterSeconds?: number };
}

/** @param retryAfter the header of that name; an error within a watch has it in its details */
export function toApiError(status: number, body: string, retryAfter?: string): ApiError {
  const waitMs = retryAfterMs(retryAfter, Date.now());
  try {
    const { message, reason, details } = JSON.parse(body) as Status;
    const seconds = details?.retryAfterSeconds;
    return new ApiError(
      status,
      message ?? body,
      reason ?? 'Unknown',
      waitMs ?? (seconds === undefined ? null : seconds * 1000),
    );
  } catch {
    return new ApiError(status, body === '' ? `HTTP ${status}` : body, 'Unknown', waitMs);
  }
}

/** As RFC 9110 has the header, in seconds or as a date. @param now milliseconds since 1970 */
export function retryAfterMs(header: string | undefined, now: number): number | null {
  const text = header?.trim() ?? '';
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}
