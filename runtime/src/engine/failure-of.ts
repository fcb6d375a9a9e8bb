// What an error of the engine means: the native engine's carry a reason of the contract, anything else is a fault.

import { FailureError, failureReasons, type Failure, type FailureReason } from '@llmservice/crds';

export function failureOf(error: unknown): Failure {
  if (error instanceof FailureError) return error.failure;
  const { reason, message, detail } = error as Partial<Record<keyof Failure, unknown>>;
  const known = failureReasons.find((each): each is FailureReason => each === reason);
  return {
    reason: known ?? 'EngineFault',
    message: typeof message === 'string' ? message : String(error),
    ...(typeof detail === 'object' && detail !== null
      ? { detail: detail as NonNullable<Failure['detail']> }
      : {}),
  };
}
