// A refusal by the router, in the shape of the runtime's errors.

import { routerErrors, type RouterErrorCode } from '@llmservice/crds';
import { Refusal } from '../activator/activator-error.js';

export class RouterError extends Refusal {
  override readonly name = 'RouterError';

  constructor(
    override readonly code: RouterErrorCode,
    message: string,
    retryAfterSeconds: number | null = null,
    param: string | null = null,
  ) {
    super(code, message, routerErrors[code], retryAfterSeconds, param);
  }
}
