// Where pulled weights are kept, as one typed value.

import type { LlmServiceSpec, Violation } from '@llmservice/crds';
import { isAmount, notAnAmount, parseQuantity } from './quantity.js';

type Kind =
  { readonly kind: 'hostPath'; readonly path: string } | { readonly kind: 'pvc'; readonly claimName: string };

/** What pods share. */
export type NodeCache = Kind & {
  /** Null: as much as the disk has. */
  readonly maxBytes: number | null;
  readonly verify: 'onPull' | 'always';
  readonly prePull: boolean;
};

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
