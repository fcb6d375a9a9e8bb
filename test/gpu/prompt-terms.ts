// What the first token after a prompt of 8,192 tokens of Qwen3.6-27B-FP8 waits for beside its bare operations, term by term: whether
// kernels do without it yet, and what that saves on a card. Bytes go at the assumed share of the bandwidth.

import { assumedShares } from './expected-times.js';
import { qwen36Shape } from './qwen36-stages.js';

const { hidden, ffn, layers, outputs } = qwen36Shape;
const prompt = 8192;
const floatBytes = 4;
const halfBytes = 2;
const all = layers.gdn + layers.attention;
const pairRows = 128;
const unitColumns = 128;

export interface TermCard {
  readonly name: string;
  readonly bandwidth: number;
  /** What its products run on: wgmma has kernels of its own. */
  readonly isHopper: boolean;
  readonly multiprocessors: number;
}

interface Term {
  readonly name: string;
  readonly state: string;
  /** Of an H200 at f2fd6c2c (test/bench/RESULTS.md), where it was measured by itself. */
  readonly measuredMs?: number;
  /** Bytes of a prompt; null: not on this card. */
  readonly bytes: (card: TermCard) => number | null;
}

/**
 * Sums that a product of many rows leaves in memory where a slice of K ends within a pair of tiles, and reads again
 * (swizzled_plan.h).
 */
export function cutBytes(rows: number, columns: number, multiprocessors: number): number {
  const kTiles = Math.ceil(columns / unitColumns);
  const units = Math.ceil(rows / pairRows) * kTiles;
  const length = Math.max(4, Math.ceil(units / multiprocessors));
  let cuts = 0;
  for (let at = length; at < units; at += length) if (at % kTiles !== 0) cuts += 1;
  return cuts * pairRows * prompt * floatBytes * 2;
}

const ofHopper =
  (bytes: (card: TermCard) => number) =>
  (card: TermCard): number | null =>
    card.isHopper ? bytes(card) : null;

const gatedOutput = all * ffn * floatBytes * prompt;
const others = [
  { times: all, rows: hidden, columns: ffn },
  { times: layers.gdn, rows: outputs.gdn, columns: hidden },
  { times: layers.attention, rows: outputs.attention, columns: hidden },
  { times: all, rows: hidden, columns: outputs.values },
];

/** Whether done or not, by what it would save on an H200. */
export const promptTerms: readonly Term[] = [
  {
    name: 'gate·up in float32, written, read by the gates’ launch, and what that wrote in float32',
    state: 'done on Hopper: gates and FP8 in the product’s launch',
    measuredMs: 28.1,
    bytes: ofHopper(() => 5 * gatedOutput),
  },
  {
    name: 'the gates’ result in float32, which nobody reads',
    state: 'done: not written',
    bytes: (card) => (card.isHopper ? null : gatedOutput),
  },
  {
    name: 'sums of gate·up at the ends of slices, in its output',
    state: 'done on Hopper: in 17 MB that stay in the L2',
    bytes: ofHopper(({ multiprocessors }) => all * cutBytes(2 * ffn, hidden, multiprocessors)),
  },
  {
    name: 'the same of the other products',
    state: 'done on Hopper: in a place of the same size',
    bytes: ofHopper(({ multiprocessors }) =>
      others.reduce(
        (sum, { times, rows, columns }) => sum + times * cutBytes(rows, columns, multiprocessors),
        0,
      ),
    ),
  },
  {
    name: 'outputs of all other products in float32, written and read, where BF16 would do',
    state: 'open: other bits',
    bytes: () =>
      others.reduce((sum, { times, rows }) => sum + times * rows, 0) * (floatBytes - halfBytes) * 2 * prompt,
  },
  {
    name: 'norms’ results in float32, which nobody reads',
    state: 'done: not written on one rank, without adapters and biases',
    measuredMs: 24.7,
    bytes: () => 2 * all * hidden * floatBytes * prompt,
  },
];

/** Of what is not a matter of bytes: what an H200 took, and what it would by the assumed share of its peak. */
export const otherTerms = [
  ['products of FP8', 'open: no clusters, no multicast; 990 TFLOP/s by the L2', 579, 402],
  ['attention, heads of 256', 'done on Hopper with KV in BF16: wgmma; 40 % of the peak', 96.9, 33.4],
  ['GDN’s scan', 'open: chunks one after the other, TF32 in three products; BF16 at 40 %', 105, 8.7],
  ['experts’ prompts', 'open: mma.sync; none in this model', null, null],
] as const;

/** @returns milliseconds that another term could save of a prompt; null: it was timed on an H200 alone */
const restMs = ([, , took, would]: (typeof otherTerms)[number], { name }: TermCard): number | null =>
  name === 'H200' && took !== null ? took - would : null;

const ms = (seconds: number): string => (seconds * 1e3).toFixed(1);

/** @returns milliseconds that a term takes of a prompt on a card; null: none */
export function termMs(term: Term, card: TermCard): string {
  const bytes = term.bytes(card);
  return bytes === null ? '–' : ms(bytes / (card.bandwidth * assumedShares.bandwidth));
}

/** @returns whole milliseconds that a card's prompt is spared by what is done, at most: what stays in the L2 takes its time too */
export function savedMs(card: TermCard): string {
  const isDone = (state: string): boolean => state.startsWith('done');
  const bytes = promptTerms
    .filter(({ state }) => isDone(state))
    .reduce((sum, term) => sum + (term.bytes(card) ?? 0), 0);
  const rest = otherTerms
    .filter(([, state]) => isDone(state))
    .reduce((sum, term) => sum + (restMs(term, card) ?? 0), 0);
  return ((bytes / (card.bandwidth * assumedShares.bandwidth)) * 1e3 + rest).toFixed(0);
}

export function promptTermsTable(cards: readonly TermCard[]): string {
  const rows = promptTerms.map((term) => {
    const measured = term.measuredMs === undefined ? '–' : term.measuredMs.toFixed(1);
    return `| ${term.name} | ${term.state} | ${measured} | ${cards.map((card) => termMs(term, card)).join(' | ')} |`;
  });
  const rest = otherTerms.map((term) => {
    const [name, state, took] = term;
    const of = (card: TermCard): string => restMs(term, card)?.toFixed(1) ?? '–';
    return `| ${name} | ${state} | ${took === null ? '–' : took.toFixed(1)} | ${cards.map(of).join(' | ')} |`;
  });
  return `| term | state | H200 took, ms | ${cards.map(({ name }) => `${name}, ms`).join(' | ')} |
|---|---|---:|${cards.map(() => '---:|').join('')}
${[...rows, ...rest].join('\n')}
`;
}
