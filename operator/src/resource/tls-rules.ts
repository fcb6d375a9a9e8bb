// Who asks pods that speak HTTPS has to have something to verify them by. The API server's CEL rules say the same; these hold
// where its copy of the CRD is older.

import type { LlmServiceSpec, Violation } from '@llmservice/crds';

export function tlsViolations({ tls, routing, scaling }: LlmServiceSpec): Violation[] {
  const path = 'spec.tls.caConfigMapRef';
  if (tls.secretRef === undefined) {
    return tls.caConfigMapRef === undefined
      ? []
      : [{ path, message: 'verifies pods that speak HTTPS; add tls.secretRef, or remove it' }];
  }
  if (tls.caConfigMapRef !== undefined) return [];
  const askers = [
    ...(routing.host === undefined ? [] : ['the gateway (routing.host)']),
    ...(scaling.idleAfterSeconds === undefined ? [] : ['the activator (scaling.idleAfterSeconds)']),
  ];
  return askers.map((asker) => ({ path, message: `is missing: by it ${asker} verifies the pods` }));
}
