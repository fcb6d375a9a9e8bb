// Of prefill pods and InferencePools.

import { ofTeam, pod, team, type AlertCase } from './alert-case.js';

const prefill = (what: 'wanted' | 'ready'): string => `llmservice_service_prefill_${what}{${ofTeam}}`;
const prompts = `llmservice_prefill_prompts_total{${pod}}`;
const fallbacks = (reason: string): string => `llmservice_prefill_fallbacks_total{${pod},reason="${reason}"}`;
const routed = (reason: string): string => `llmservice_service_routed{${ofTeam},reason="${reason}"}`;

export const apartCases: readonly AlertCase[] = [
  {
    alert: 'LlmServicePrefillGone',
    after: 40,
    labels: team,
    fires: { [prefill('wanted')]: '2x40', [prefill('ready')]: '0x40' },
    quiet: {
      'one of two': { [prefill('wanted')]: '2x40', [prefill('ready')]: '1x40' },
      'none that is wanted': { [prefill('wanted')]: '0x40', [prefill('ready')]: '0x40' },
      'one that loads': { [prefill('wanted')]: '1x40', [prefill('ready')]: '1x14 0x25' },
    },
  },
  {
    alert: 'LlmServicePrefillFallsBack',
    after: 30,
    labels: { ...team, reason: 'timedOut' },
    fires: {
      [prompts]: '0+6x30',
      [fallbacks('timedOut')]: '0+3x30',
      [fallbacks('busy')]: '0+1x30',
      [prefill('ready')]: '1x30',
    },
    quiet: {
      'one among many': { [prompts]: '0+60x30', [fallbacks('timedOut')]: '0+3x30' },
      'none since': { [prompts]: '0+6x30', [fallbacks('timedOut')]: '9x30' },
      'clients that leave': { [prompts]: '0+6x30', [fallbacks('cancelled')]: '0+6x30' },
      'no prefill pods that are wanted': {
        [prompts]: '0x30',
        [fallbacks('noPod')]: '0+6x30',
        [prefill('wanted')]: '0x30',
        [prefill('ready')]: '0x30',
      },
      'prefill pods that all load': {
        [prompts]: '0x30',
        [fallbacks('noPod')]: '0+6x30',
        [prefill('wanted')]: '1x30',
        [prefill('ready')]: '0x30',
      },
    },
  },
  {
    alert: 'LlmServicePoolUnused',
    after: 20,
    labels: { ...team, reason: 'EndpointPickerPending' },
    fires: { [routed('EndpointPickerPending')]: '1x20' },
    quiet: {
      'a pool that is used': { [routed('InferencePool')]: '1x20' },
      'no pool': { [routed('Accepted')]: '1x20' },
      'a picker that starts': {
        [routed('EndpointPickerPending')]: '1x10 _x10',
        [routed('InferencePool')]: '_x11 1x10',
      },
    },
  },
];
