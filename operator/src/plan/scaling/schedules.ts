// Which of a service's schedules hold at a time, and when that changes. Pods are begun ahead of a schedule's start by as
// long as the last load took, so that they answer by then. Time zones and daylight saving are croner's.

import { timestamp, type LlmServiceSpec, type LlmServiceStatus } from '@llmservice/crds';
import { earliest } from '../../domain/earliest.js';
import { cron } from '../../resource/cron.js';

export type Schedule = NonNullable<LlmServiceSpec['scaling']['schedules']>[number];
export type ActiveSchedule = NonNullable<LlmServiceStatus['activeSchedules']>[number];

export interface Warmth {
  /** Least replicas; 0 where no schedule holds. */
  readonly minReplicas: number;
  readonly active: readonly ActiveSchedule[];
  /** Until that may change; null: never. */
  readonly recheckMs: number | null;
}

/** Where no load was seen yet. */
const unknownLeadSeconds = 600;
const minLeadSeconds = 60;
export const maxLeadSeconds = 7_200;

/**
 * How long before a schedule's start its pods begin: a quarter more than the last load took.
 * @param lastLoadSeconds null: none was seen
 */
export function leadSeconds(lastLoadSeconds: number | null): number {
  if (lastLoadSeconds === null) return unknownLeadSeconds;
  const wanted = Math.ceil(lastLoadSeconds * 1.25) + minLeadSeconds;
  return Math.min(maxLeadSeconds, wanted);
}

/** @param before what held at the last look: what began early stays, although its load may have shown to be short */
export function warmthAt(
  schedules: readonly Schedule[],
  before: readonly ActiveSchedule[],
  lead: number,
  now: Date,
): Warmth {
  const turns = schedules.map((schedule) => ({ schedule, turn: turnOf(schedule, before, lead, now) }));
  const held = turns.filter(({ turn }) => turn.until !== null);
  return {
    minReplicas: Math.max(0, ...held.map(({ schedule }) => schedule.minReplicas)),
    active: held.map(({ schedule, turn }) => ({ name: schedule.name, until: turn.until ?? '' })),
    recheckMs: earliest(...turns.map(({ turn }) => turn.changeMs)),
  };
}

interface Turn {
  /** RFC 3339; null: it does not hold. */
  readonly until: string | null;
  readonly changeMs: number | null;
}

function turnOf(schedule: Schedule, before: readonly ActiveSchedule[], lead: number, now: Date): Turn {
  const [start, end] = [schedule.start, schedule.end].map((expression) =>
    cron(expression, schedule.timeZone),
  );
  const nextStart = start?.nextRun(now) ?? null;
  const nextEnd = end?.nextRun(now) ?? null;
  if (nextEnd === null) return { until: null, changeMs: null };
  // Within: the end of what began comes before it begins anew.
  if (nextStart === null || nextEnd < nextStart)
    return { until: timestamp(nextEnd), changeMs: +nextEnd - +now };
  const until = end?.nextRun(nextStart) ?? null;
  if (until === null) return { until: null, changeMs: null };
  const begun = before.some((each) => each.name === schedule.name && each.until === timestamp(until));
  const leftMs = +nextStart - +now - (begun ? maxLeadSeconds : lead) * 1000;
  return leftMs <= 0
    ? { until: timestamp(until), changeMs: +until - +now }
    : { until: null, changeMs: leftMs };
}
