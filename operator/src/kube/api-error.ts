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

/** @param retryAfter the header of that name */
export function toApiError(status: number, body: string, retryAfter?: string): ApiError {
  const waitMs = retryAfterMs(retryAfter, Date.now());
  try {
    const { message, reason } = JSON.parse(body) as { message?: string; reason?: string };
    return new ApiError(status, message ?? body, reason ?? 'Unknown', waitMs);
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
