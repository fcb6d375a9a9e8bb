// A gateway as its owner wants it: the spec read once, complete and typed (resource/parse-gateway.ts reads it).

import type { LlmGatewaySpec } from '@llmservice/crds';

export interface WantedGateway {
  readonly kind: 'LlmGateway';
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly generation: number;
  readonly spec: LlmGatewaySpec;
}
