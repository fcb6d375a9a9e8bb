// A service as it is read among many: with the values of its class, which its status has, in its spec.

import type { LlmServiceSpec, LlmServiceStatus } from '@llmservice/crds';
import type { KubeObject } from '../../kube/types.js';
import { withClassValues } from './class-values.js';

/** Where the spec is kept as its owner wrote it. */
const written = 'specAsWritten';

export function asResolved(object: KubeObject): KubeObject {
  const spec = object['spec'] as LlmServiceSpec | undefined;
  const taken = (object['status'] as LlmServiceStatus | undefined)?.class;
  if (spec === undefined || taken === undefined || spec.className !== taken.name || written in object)
    return object;
  return { ...object, spec: withClassValues(spec, taken.values), [written]: spec };
}

export function asWritten(object: KubeObject): KubeObject {
  if (!(written in object)) return object;
  const { [written]: spec, ...rest } = object;
  return { ...rest, spec };
}
