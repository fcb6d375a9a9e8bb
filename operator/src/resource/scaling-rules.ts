// What of scaling and budget neither schema nor CEL can check: time zones, and times that never come.

import type { LlmServiceSpec, Violation } from '@llmservice/crds';
import { cron } from './cron.js';

export function scalingViolations(spec: LlmServiceSpec): Violation[] {
  return [...scheduleViolations(spec), ...budgetViolations(spec)];
}

function scheduleViolations({ scaling }: LlmServiceSpec): Violation[] {
  return (scaling.schedules ?? []).flatMap(({ timeZone, start, end }, index) => {
    const path = `spec.scaling.schedules[${index}]`;
    if (!isTimeZone(timeZone)) return [{ path: `${path}.timeZone`, message: notATimeZone(timeZone) }];
    return Object.entries({ start, end })
      .map(([field, text]) => ({ path: `${path}.${field}`, message: wrongWith(text, timeZone) }))
      .filter((each): each is Violation => each.message !== null);
  });
}

function budgetViolations({ budget }: LlmServiceSpec): Violation[] {
  return isTimeZone(budget.timeZone)
    ? []
    : [{ path: 'spec.budget.timeZone', message: notATimeZone(budget.timeZone) }];
}

/** From which on a time has to come. */
const anyTime = new Date('2026-01-01T00:00:00Z');

/** Every service is parsed at every look, and to find that a time never comes takes a search of years. */
const judged = new Map<string, string | null>();
const maxJudged = 10_000;

/** Null: nothing. */
function wrongWith(expression: string, timeZone: string): string | null {
  const key = `${timeZone} ${expression}`;
  const known = judged.get(key);
  if (known !== undefined) return known;
  const verdict = judgeTime(expression, timeZone);
  if (judged.size >= maxJudged) judged.clear();
  judged.set(key, verdict);
  return verdict;
}

function judgeTime(expression: string, timeZone: string): string | null {
  try {
    return cron(expression, timeZone).nextRun(anyTime) === null ? `never comes: "${expression}"` : null;
  } catch (error) {
    return `is not a time as cron writes it, such as "0 8 * * 1-5": ${(error as Error).message}`;
  }
}

function notATimeZone(name: string): string {
  return `is not the name of a time zone, such as Europe/Berlin: "${name}"`;
}

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).format() !== '';
  } catch {
    return false;
  }
}
