// Reads where pulled weights are kept.

import type { LlmServiceSpec, Violation } from '@llmservice/crds';
import type { NodeCache } from '../domain/wanted-service.js';
import { isAmount, notAnAmount, parseQuantity } from './quantity.js';

/** Null: nothing is shared. */
export function parseNodeCache(
  { kind, path, claimName, maxSize, verify, prePull }: LlmServiceSpec['model']['cache'],
  violations: Violation[],
): NodeCache | null {
  const maxBytes = maxSize === undefined ? null : parseQuantity(maxSize);
  if (maxSize !== undefined && !isAmount(maxBytes)) {
    violations.push({ path: 'spec.model.cache.maxSize', message: notAnAmount });
  }
  if (kind === 'emptyDir') return null;
  const shared = { maxBytes: maxBytes === null ? null : Math.floor(maxBytes), verify, prePull };
  if (kind === 'hostPath') return { kind, path: path ?? '', ...shared };
  return { kind, claimName: claimName ?? '', ...shared };
}
