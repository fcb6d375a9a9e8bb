// What a pod's /metrics say of how it answers, by names that vLLM and our engine share; and what was added since an
// earlier look.

import { podMetrics } from '@llmservice/crds';

/** Counters since the pod's server began. */
export interface Figures {
  /** Answers of all routes but probes and metrics. */
  readonly answers: number;
  /** Of these, with a status of 5xx. */
  readonly failedAnswers: number;
  readonly generations: number;
  /** Of these, ended by an error, of streams too. */
  readonly failedGenerations: number;
  /** Requests refused for a full queue. */
  readonly rejections: number;
  readonly firstTokenSeconds: number;
  readonly firstTokens: number;
  readonly tokenSeconds: number;
  readonly tokenTimes: number;
  readonly answerTokens: number;
  readonly lengths: number;
}

const { answers, requestSuccess, rejections, firstTokenSeconds, tokenSeconds, answerTokens } = podMetrics;

/** The series of a name, or those of them whose labels have the text. */
const series: Readonly<Record<keyof Figures, readonly [name: string, label?: string]>> = {
  answers: [answers],
  failedAnswers: [answers, 'status="5xx"'],
  generations: [requestSuccess],
  failedGenerations: [requestSuccess, 'finished_reason="error"'],
  rejections: [rejections],
  firstTokenSeconds: [`${firstTokenSeconds}_sum`],
  firstTokens: [`${firstTokenSeconds}_count`],
  tokenSeconds: [`${tokenSeconds}_sum`],
  tokenTimes: [`${tokenSeconds}_count`],
  answerTokens: [`${answerTokens}_sum`],
  lengths: [`${answerTokens}_count`],
};

const fields = Object.keys(series) as (keyof Figures)[];
const names = new Set(Object.values(series).map(([name]) => name));

export const noFigures: Figures = mapped(() => 0);

/** From the text of /metrics; what it lacks is 0, as in a server that nobody asked yet. */
export function parseFigures(text: string): Figures {
  const sums = new Map<keyof Figures, number>();
  for (const line of text.split('\n')) {
    const [, name = '', labels = '', value = ''] = /^([\w:]+)(\{.*\})?\s+(\S+)/.exec(line) ?? [];
    if (!names.has(name)) continue;
    const amount = Number(value);
    if (!Number.isFinite(amount)) continue;
    for (const field of fields) {
      const [wanted, label = ''] = series[field];
      if (wanted === name && labels.includes(label)) sums.set(field, (sums.get(field) ?? 0) + amount);
    }
  }
  return mapped((field) => sums.get(field) ?? 0);
}

/** A server that began anew counts from nothing. */
export function addedSince(before: Figures, now: Figures): Figures {
  const isAnew = now.answers < before.answers || now.generations < before.generations;
  return isAnew ? now : mapped((field) => now[field] - before[field]);
}

export function sumOf(all: readonly Figures[]): Figures {
  return mapped((field) => all.reduce((sum, each) => sum + each[field], 0));
}

function mapped(value: (field: keyof Figures) => number): Figures {
  return Object.fromEntries(fields.map((field) => [field, value(field)])) as unknown as Figures;
}
