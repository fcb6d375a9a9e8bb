// A refusal by the activator or the router, in the shape of the runtime's errors.

import {
  activatorErrors,
  anthropicErrorType,
  isAnthropicPath,
  isInferencePath,
  type ActivatorErrorCode,
} from '@llmservice/crds';

export abstract class Refusal extends Error {
  constructor(
    readonly code: string,
    message: string,
    /** Of the answer: its status, and OpenAI's type. */
    private readonly meaning: { readonly status: number; readonly type: string },
    /** For the Retry-After header; null: trying again does not help. */
    readonly retryAfterSeconds: number | null,
    /** The field of the body that it is about; null: none. */
    private readonly param: string | null = null,
  ) {
    super(message);
  }

  get status(): number {
    return this.meaning.status;
  }

  /** As the clients of this path read it. @param url of the request, with its query */
  body(url: string): object {
    const { code, message, status, param } = this;
    if (isInferencePath(pathOf(url))) return { error: message, code, param };
    const error = { type: this.meaning.type, message, param, code };
    if (!isAnthropic(url)) return { error };
    return { type: 'error', error: { ...error, type: anthropicErrorType(status) } };
  }
}

export class ActivatorError extends Refusal {
  override readonly name = 'ActivatorError';

  constructor(
    override readonly code: ActivatorErrorCode,
    message: string,
    retryAfterSeconds: number | null = null,
  ) {
    super(code, message, activatorErrors[code], retryAfterSeconds);
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
