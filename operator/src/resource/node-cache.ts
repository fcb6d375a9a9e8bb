// Reads where pulled weights are kept.

import type { LlmServiceSpec, Violation } from '@llmservice/crds';
import type { NodeCache } from '../domain/wanted-service.js';
import { isAmount, notAnAmount, parseQuantity } from './quantity.js';

/** The API server's CEL rules say the same; these hold where its copy of the CRD is older. Null: nothing is shared. */
export function parseNodeCache(
  { kind, path, claimName, maxSize, verify, prePull }: LlmServiceSpec['model']['cache'],
  violations: Violation[],
): NodeCache | null {
  const refuse = (field: string, message: string): void => {
    violations.push({ path: `spec.model.cache.${field}`, message });
  };
  if ((kind === 'hostPath') !== (path !== undefined))
    refuse('path', 'is the folder of kind hostPath: set both or neither');
  if ((kind === 'pvc') !== (claimName !== undefined))
    refuse('claimName', 'is the claim of kind pvc: set both or neither');
  if (path !== undefined && (!/^(\/[^/:]+)+$/.test(path) || /(^|\/)\.\.?(\/|$)/.test(path)))
    refuse('path', "must be absolute, without '.', '..', ':' and a slash at its end");
  const maxBytes = maxSize === undefined ? null : parseQuantity(maxSize);
  if (maxSize !== undefined && !isAmount(maxBytes)) refuse('maxSize', notAnAmount);
  if (kind === 'emptyDir') {
    if (maxSize !== undefined) refuse('maxSize', 'bounds what pods share: set kind to hostPath or pvc');
    if (prePull) refuse('prePull', 'fills what pods share: set kind to hostPath or pvc');
    return null;
  }
  const shared = { maxBytes: maxBytes === null ? null : Math.floor(maxBytes), verify, prePull };
  if (kind === 'hostPath') return { kind, path: path ?? '', ...shared };
  return { kind, claimName: claimName ?? '', ...shared };
}
