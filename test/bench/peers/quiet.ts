// Whether a machine was left alone while it was measured.

import { readFileSync } from 'node:fs';
import { loadavg } from 'node:os';

/** Above it others run before a measurement begins, as a share of one processor. */
const maxLoad = 0.5;
/** Of what is read from memory a second, between the rounds' least and greatest. */
const maxSpread = 0.15;
/** Of the processors' time, what the host of a virtual machine gave to others. */
const maxStolen = 0.02;

interface ProcessorTime {
  readonly all: number;
  readonly stolen: number;
}

/** From /proc/stat's first line (proc(5)): user, nice, system, idle, iowait, irq, softirq, steal. */
export function processorTimeOf(stat: string): ProcessorTime {
  const fields = stat.slice(0, stat.indexOf('\n')).trim().split(/\s+/).slice(1, 9).map(Number);
  return { all: fields.reduce((sum, each) => sum + each, 0), stolen: fields[7] ?? 0 };
}

/** Sentences about what disturbed; none where nothing did. `bandwidths` in bytes a second. */
export function disturbances(load: number, stolen: number, bandwidths: readonly number[]): readonly string[] {
  const spread = 1 - Math.min(...bandwidths) / Math.max(...bandwidths);
  return [
    ...(load > maxLoad
      ? [`The load was ${load.toFixed(2)} before anything ran; at most ${maxLoad} counts as quiet.`]
      : []),
    ...(stolen > maxStolen ? [`The host gave ${percent(stolen)} of the processors' time to others.`] : []),
    ...(spread > maxSpread
      ? [`What was read from memory a second differed by ${percent(spread)} between rounds.`]
      : []),
  ];
}

/** What ran in the last minute, ourselves included: to be asked before a bench does anything. */
export const loadBefore = (): number => loadavg()[0]!;

/** Begins now; the call of what it returns says what disturbed since. `load`: as loadBefore() gave it. */
export function watchDisturbances(load: number): (bandwidths: readonly number[]) => readonly string[] {
  const read = (): ProcessorTime => processorTimeOf(readFileSync('/proc/stat', 'utf8'));
  const before = read();
  return (bandwidths) => {
    const after = read();
    return disturbances(
      load,
      (after.stolen - before.stolen) / Math.max(1, after.all - before.all),
      bandwidths,
    );
  };
}

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;
