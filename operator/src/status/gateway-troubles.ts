// What of a gateway is not as one would have it, for people and programs that look: its conditions, each cause once, and the
// models that nobody answers for. Pure.

import type { Condition, LlmGatewayStatus } from '@llmservice/crds';
import { troubles } from './troubles.js';

/** Without what only waits for Accepted, which is said itself. */
export function gatewayTroubles({ conditions = [] }: Pick<LlmGatewayStatus, 'conditions'>): Condition[] {
  return troubles({ conditions }).filter(({ reason }) => reason !== 'NotAccepted');
}

/** `NAME (SERVICE)` of models that were routed and have no pod: conditions name those that are not routed. */
export function unansweredModels({ models = [] }: Pick<LlmGatewayStatus, 'models'>): string[] {
  return models
    .filter(({ state }) => state === 'NotReady')
    .map(({ name, service }) => `${name} (${service})`);
}
