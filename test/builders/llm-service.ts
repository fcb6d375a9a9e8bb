// LlmService manifests for tests: as small as a user would write them, with anything replaced.

import { api, type LlmServiceSpec } from '@llmservice/crds';

type DeepPartial<T> = { [K in keyof T]?: T[K] extends object ? DeepPartial<T[K]> : T[K] };

export function llmService(
  name: string,
  spec: DeepPartial<LlmServiceSpec> & { model: { uri: string } },
  metadata: { namespace?: string; annotations?: Record<string, string> } = {},
) {
  return {
    apiVersion: api.groupVersion,
    kind: api.kind,
    metadata: { name, namespace: 'default', ...metadata },
    spec,
  };
}
