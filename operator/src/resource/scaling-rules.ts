// What of scaling and budget no schema can check: times that never come, and bounds of other fields. Of the rules that the
// API server has in CEL too, these hold where its copy of the CRD is older.

import type { LlmServiceSpec, Violation } from '@llmservice/crds';
import { cron } from './cron.js';

export function scalingViolations(spec: LlmServiceSpec): Violation[] {
  return [...boundViolations(spec), ...scheduleViolations(spec), ...budgetViolations(spec)];
}

function boundViolations({ scaling, auth }: LlmServiceSpec): Violation[] {
  const { minReplicas, maxReplicas, schedules = [] } = scaling;
  const found: Violation[] = [];
  const most = Math.max(maxReplicas ?? 0, ...schedules.map((schedule) => schedule.minReplicas));
  if (minReplicas !== undefined && (maxReplicas === undefined || minReplicas > maxReplicas)) {
    found.push({
      path: 'spec.scaling.minReplicas',
      message: 'needs scaling.maxReplicas, of at least as many',
    });
  }
  if (maxReplicas !== undefined && most > maxReplicas) {
    found.push({
      path: 'spec.scaling.schedules',
      message: 'asks for more replicas than scaling.maxReplicas',
    });
  }
  if (auth.keysSecretRef !== undefined && most > auth.maxReplicas) {
    const message = `may make more replicas than auth.maxReplicas (${auth.maxReplicas}), among which the budgets of the keys are divided`;
    found.push({ path: 'spec.scaling', message });
  }
  return found;
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
