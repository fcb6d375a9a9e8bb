// Of gateways of models.

import type { AlertCase } from './alert-case.js';

const gateway = { namespace: 'team', gateway: 'models' };
const router = 'job="llmservice-router",namespace="team",gateway="models",pod="models-gateway-1"';
const ended = (outcome: string): string =>
  `llmservice_router_requests_total{${router},model="chat",outcome="${outcome}"}`;
const models = `llmservice_router_models{${router}}`;

export const gatewayCases: readonly AlertCase[] = [
  {
    alert: 'LlmGatewayModelUnanswered',
    after: 15,
    labels: { ...gateway, model: 'chat' },
    fires: { [ended('answered')]: '0+6x15', [ended('unreached')]: '0+2x15' },
    quiet: {
      'one among many': { [ended('answered')]: '0+60x15', [ended('failed')]: '0+2x15' },
      'fallbacks that answer': { [ended('fallback_answered')]: '0+6x15' },
      'clients that leave': { [ended('gone')]: '0+6x15' },
    },
  },
  {
    alert: 'LlmGatewayFallsBack',
    after: 30,
    labels: { ...gateway, model: 'chat' },
    fires: { [ended('answered')]: '0+6x30', [ended('fallback_answered')]: '0+2x30' },
    quiet: {
      'one among many': { [ended('answered')]: '0+60x30', [ended('fallback_answered')]: '0+2x30' },
      'none for a quarter of an hour': {
        [ended('answered')]: '0+6x30',
        [ended('fallback_answered')]: '9x30',
      },
    },
  },
  {
    alert: 'LlmGatewayWithoutModels',
    after: 10,
    labels: gateway,
    fires: { [models]: '0x10' },
    quiet: {
      'a model': { [models]: '1x10' },
      'a router that has not read its table yet': {
        [models]: '0x10',
        [models.replace('-1', '-2')]: '3x10',
      },
    },
  },
];
