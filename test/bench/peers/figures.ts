// What is measured of an engine, in tokens a second, and how rounds become a table.

import { median } from '../../median.js';

export const prompts = [512, 2048] as const;
/** Sequences that decode together; one has a prompt of 512 tokens, several have 64 each. */
export const batches = [1, 4, 8, 16] as const;

export type Measure = `prefill ${(typeof prompts)[number]}` | `decode ${(typeof batches)[number]}`;
export const measures: readonly Measure[] = [
  ...prompts.map((tokens): Measure => `prefill ${tokens}`),
  ...batches.map((sequences): Measure => `decode ${sequences}`),
];

/** Of one round: tokens a second by measure. */
export type Figures = Readonly<Record<Measure, number>>;

export interface Contender {
  readonly name: string;
  readonly format: string;
  measure(): Figures;
}

/** Rows of a table in Markdown: what each contender reached, medians over its rounds. */
export function tableOf(rounds: ReadonlyMap<Contender, readonly Figures[]>): readonly string[] {
  const rows = [...rounds].map(([contender, figures]) => [
    `${contender.name} ${contender.format}`,
    ...measures.map((measure) => median(figures.map((one) => one[measure])).toFixed(1)),
  ]);
  return [['tok/s', ...measures], measures.map(() => '---').concat('---'), ...rows].map(
    (row) => `| ${row.join(' | ')} |`,
  );
}

/**
 * How many times as fast `ours` was as the fastest of `theirs`, by measure: the median of the ratios of each round, in which all
 * took turns, since others may load the machine more in one round than in the next.
 */
export function ratiosTo(ours: readonly Figures[], theirs: readonly (readonly Figures[])[]): Figures {
  const ratioOf = (measure: Measure): number =>
    median(ours.map((one, round) => one[measure] / Math.max(...theirs.map((each) => each[round]![measure]))));
  return Object.fromEntries(measures.map((measure) => [measure, ratioOf(measure)])) as Figures;
}
