// Of errors and first tokens against their objectives, for each pair of windows.

import { pod, team, type AlertCase } from './alert-case.js';

const answers = (status: string): string =>
  `http_requests_total{${pod},handler="/v1/chat/completions",status="${status}"}`;
const ended = (reason: string): string => `vllm:request_success_total{${pod},finished_reason="${reason}"}`;
const firstTokens = (le: string): string => `vllm:time_to_first_token_seconds_bucket{${pod},le="${le}"}`;
const firstTokensCount = `vllm:time_to_first_token_seconds_count{${pod}}`;
const step = 10;
const steps = (25 * 60) / step;

export const objectiveCases: readonly AlertCase[] = [
  {
    alert: 'LlmServiceErrorsBurnsFast',
    after: 70,
    labels: team,
    fires: { [answers('2xx')]: '0+60x70', [answers('5xx')]: '0+2x70' },
    quiet: {
      'half of what a fast burn takes': { [answers('2xx')]: '0+200x70', [answers('5xx')]: '0+1x70' },
      'errors that are over': { [answers('2xx')]: '0+60x70', [answers('5xx')]: '0+9x30 270x40' },
      'errors that only begin': { [answers('2xx')]: '0+60x70', [answers('5xx')]: '0x69 1' },
      'one failure of few requests': { [answers('2xx')]: '0x65 0+1x5', [answers('5xx')]: '0x69 1' },
      'clients that leave, and requests that are refused as wrong': {
        [ended('stop')]: '0+60x70',
        [ended('abort')]: '0+60x70',
        [answers('4xx')]: '0+60x70',
      },
    },
  },
  {
    // Streams that end with an error were begun with 200.
    alert: 'LlmServiceErrorsBurnsFast',
    after: 70,
    labels: team,
    fires: { [answers('2xx')]: '0+60x70', [ended('stop')]: '0+58x70', [ended('error')]: '0+2x70' },
    quiet: {
      'no error': { [answers('2xx')]: '0+60x70', [ended('stop')]: '0+60x70', [ended('error')]: '0x70' },
    },
  },
  {
    alert: 'LlmServiceErrorsBurnsSlowly',
    stepMinutes: step,
    after: step * steps,
    labels: team,
    fires: { [answers('2xx')]: `0+249x${steps}`, [answers('5xx')]: `0+1x${steps}` },
    quiet: {
      'errors within the budget': {
        [answers('2xx')]: `0+9999x${steps}`,
        [answers('5xx')]: `0+1x${steps}`,
      },
    },
  },
  {
    alert: 'LlmServiceFirstTokensBurnsFast',
    after: 70,
    labels: team,
    fires: {
      [firstTokens('2.5')]: '0+20x70',
      [firstTokens('+Inf')]: '0+100x70',
      [firstTokensCount]: '0+100x70',
    },
    quiet: {
      'first tokens of which 40 % are late for half an hour': {
        [firstTokens('2.5')]: '0+100x40 4000+60x30',
        [firstTokensCount]: '0+100x70',
      },
      'first tokens in time': { [firstTokens('2.5')]: '0+98x70', [firstTokensCount]: '0+100x70' },
    },
  },
  {
    alert: 'LlmServiceFirstTokensBurnsSlowly',
    stepMinutes: step,
    after: step * steps,
    labels: team,
    fires: { [firstTokens('2.5')]: `0+80x${steps}`, [firstTokensCount]: `0+100x${steps}` },
    quiet: {
      'first tokens in time': {
        [firstTokens('2.5')]: `0+96x${steps}`,
        [firstTokensCount]: `0+100x${steps}`,
      },
    },
  },
];
