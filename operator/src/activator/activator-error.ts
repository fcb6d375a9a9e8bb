// A refusal by the activator, in the shape of the runtime's errors.

import {
  activatorErrors,
  anthropicErrorType,
  isAnthropicPath,
  isInferencePath,
  type ActivatorErrorCode,
} from '@llmservice/crds';

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
    return activatorErrors[this.code].status;
  }

  /** As the clients of this path read it. @param url of the request, with its query */
  body(url: string): object {
    const { code, message, status } = this;
    if (isInferencePath(pathOf(url))) return { error: message, code, param: null };
    const error = { type: activatorErrors[code].type, message, param: null, code };
    if (!isAnthropic(url)) return { error };
    return { type: 'error', error: { ...error, type: anthropicErrorType(status) } };
  }
}

/** A body that reports an error as an event of a stream. */
export function errorEvent(url: string, body: object): string {
  return `${isAnthropic(url) ? 'event: error\n' : ''}data: ${JSON.stringify(body)}\n\n`;
}

function isAnthropic(url: string): boolean {
  return isAnthropicPath(pathOf(url));
}

const pathOf = (url: string): string => url.split('?', 1).join();
