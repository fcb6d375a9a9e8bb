// What is said of a tensor that is not read.

import { FailureError, type FailureReason } from '@llmservice/crds';

export function refusal(
  reason: FailureReason,
  { name }: { readonly name: string },
  what: string,
): FailureError {
  return new FailureError(reason, `tensor ${name} ${what}`);
}

export function listed(sides: readonly number[]): string {
  return `[${sides.join(', ')}]`;
}
