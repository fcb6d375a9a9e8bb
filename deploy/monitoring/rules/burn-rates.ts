// Two objectives of every service: requests that do not fail, and first tokens that come in time. Alerts by multiwindow,
// multi-burn-rate: both a long and a short window burn the budget too fast. Source: Google, "The Site Reliability Workbook"
// (2018), chapter 5, section 6, with its factors for a budget of 30 days.

import { failedRatio, filledIn, jobs, lateRatio, windows, type Window } from '../series.js';
import { alert, theService, type AlertRule, type RecordingRule, type RuleGroup } from './rule.js';

const by = 'by (namespace, service)';
/** With fewer requests in a long window, a single one would burn the budget. */
const minRequests = 10;
const long: ReadonlySet<Window> = new Set(['1h', '6h', '1d', '3d']);

/** Where there was traffic, and enough of it. */
function ratio(part: string, whole: string, counter: string, window: Window): string {
  const enough = long.has(window)
    ? `\nand on (namespace, service)\n  sum ${by} (increase(${counter}[${window}])) >= ${minRequests}`
    : '';
  return `${part}\n/\n(${whole} > 0)${enough}`;
}

/**
 * The larger one of two shares: answers of 5xx, and generations that ended with an error. A stream that ends so has begun
 * with 200; an answer that is no stream is in both.
 */
function failed(window: Window): RecordingRule {
  const shareOf = (of: string, counter: string, bad: string, all: string): string => {
    const rate = (labels: string): string =>
      `sum ${by} (rate(${counter}{${[jobs.answering, labels].filter((each) => each !== '').join(',')}}[${window}]))`;
    const selected = `${counter}{${[jobs.answering, all].filter((each) => each !== '').join(',')}}`;
    return `label_replace(\n${ratio(rate(bad), rate(all), selected, window)},\n"of", "${of}", "", "")`;
  };
  const answers = shareOf('answers', 'http_requests_total', 'status="5xx"', '');
  const ended = 'finished_reason!="abort"';
  const generations = shareOf('generations', 'vllm:request_success_total', 'finished_reason="error"', ended);
  return { record: failedRatio(window), expr: `max ${by} (\n${answers}\nor\n${generations}\n)` };
}

/** Integers among bucket bounds have a `.0` since Prometheus 3. */
function late(window: Window): RecordingRule {
  const series = 'vllm:time_to_first_token_seconds';
  const count = `${series}_count{${jobs.answering}}`;
  const bucket = `${series}_bucket{${jobs.answering},le=~"${filledIn.firstTokenSeconds}([.]0)?"}`;
  const rate = (selected: string): string => `sum ${by} (rate(${selected}[${window}]))`;
  return { record: lateRatio(window), expr: `1 - ${ratio(rate(bucket), rate(count), count, window)}` };
}

interface Burn {
  readonly factor: number;
  readonly long: Window;
  readonly short: Window;
}

const fast: readonly Burn[] = [
  { factor: 14.4, long: '1h', short: '5m' },
  { factor: 6, long: '6h', short: '30m' },
];
const slow: readonly Burn[] = [
  { factor: 3, long: '1d', short: '2h' },
  { factor: 1, long: '3d', short: '6h' },
];

function burns(recorded: (window: Window) => string, budget: string, pairs: readonly Burn[]): string {
  return pairs
    .map(
      (pair) =>
        `(${recorded(pair.long)} > ${pair.factor} * ${budget}\n  and ${recorded(pair.short)} > ${pair.factor} * ${budget})`,
    )
    .join('\nor\n');
}

function alertsOf(
  name: string,
  what: string,
  recorded: (window: Window) => string,
  budget: string,
): AlertRule[] {
  const share = '{{ $value | humanizePercentage }}';
  return [
    alert(`${name}BurnsFast`, {
      severity: 'critical',
      for: '2m',
      expr: burns(recorded, budget, fast),
      summary: `${theService}: ${share} ${what}; the month's error budget is gone within days`,
      description: 'In a window of 1 h or 6 h, and at present.',
    }),
    alert(`${name}BurnsSlowly`, {
      severity: 'warning',
      for: '15m',
      expr: burns(recorded, budget, slow),
      summary: `${theService}: ${share} ${what}; the month's error budget will not last`,
      description: 'In a window of 1 or 3 days, and at present.',
    }),
  ];
}

/** One group: its rules are evaluated in their order. */
export const burnRateGroups: readonly RuleGroup[] = [
  {
    name: 'llmservice-objectives',
    rules: [
      ...windows.flatMap((window) => [failed(window), late(window)]),
      ...alertsOf('LlmServiceErrors', 'of requests fail', failedRatio, filledIn.failedBudget),
      ...alertsOf(
        'LlmServiceFirstTokens',
        `of first tokens take more than ${filledIn.firstTokenSeconds} s`,
        lateRatio,
        filledIn.lateBudget,
      ),
    ],
  },
];
