// The page deploy/docs/mi300x.md: the occupancy of kernels on AMD’s MI300X, and what the reference deployment should
// take there by arithmetic. Made of the committed table of kernels and of launches, so that no figure is typed.

import { readFileSync } from 'node:fs';
import { findAccelerator } from '@llmservice/crds';
import {
  assumedGapSeconds,
  assumedShares,
  assumedWaitSeconds,
  expectedDevice,
  launchSecondsOf,
  memoryBoundDevice,
  stepSeconds,
  timeOf,
  type ExpectedDevice,
  type ExpectedStep,
  type Stage,
} from './expected-times.js';
import { promptTermsTable, savedMs, type TermCard } from './prompt-terms.js';
import { occupancyOf, parseKernelTable, parseLaunches } from './occupancy.js';
import { qwen36Stages } from './qwen36-stages.js';

const backend = new URL('../../native/src/backends/gpu/', import.meta.url);
const read = (name: string): string => readFileSync(new URL(name, backend), 'utf8');

const compute = { card: 304, partition: 38 } as const;
/**
 * Of a step's, those that no longer are launches of their own: three in each of 48 layers, or two where ranks sum before the
 * norm, and one in each of attention's 16.
 */
const launchesJoined = (ranks: number): number => (ranks > 1 ? 2 : 3) * 48 + 16;
const context = 8192;
const promptTokens = 2048;
const decode = (sequences: number): ExpectedStep => ({
  rows: sequences,
  sequences,
  context,
  outputs: sequences,
  chunked: false,
});
const prompt: ExpectedStep = {
  rows: promptTokens,
  sequences: 1,
  context: promptTokens / 2,
  outputs: 1,
  chunked: true,
};

/** @throws where there is no such profile */
function bandwidthOf(profile: string): number {
  const found = findAccelerator(profile);
  if (found === null) throw new Error(`there is no profile ${profile}`);
  return found.bandwidth * 1e9;
}

function devices(): ExpectedDevice[] {
  return [
    expectedDevice('two partitions in CPX/NPS4', 2, compute.partition, bandwidthOf('mi300x-cpx-nps4')),
    expectedDevice('a whole card, SPX/NPS1', 1, compute.card, bandwidthOf('mi300x-spx-nps1')),
  ];
}

/** Three digits, in the unit that reads best. */
function amount(value: number, units: readonly (readonly [number, string])[]): string {
  const [size, unit] = units.find(([size]) => value >= size) ?? units[units.length - 1] ?? [1, ''];
  const scaled = value / size;
  return `${scaled === 0 ? '0' : scaled.toFixed(scaled < 9.995 ? 2 : scaled < 99.95 ? 1 : 0)} ${unit}`;
}

const whole = (value: number): string => Math.round(value).toLocaleString('en-US');
const bytes = (value: number): string =>
  amount(value, [
    [1e9, 'GB'],
    [1e6, 'MB'],
    [1e3, 'kB'],
  ]);
const operations = ({ operations: { fp8, bf16, fp32 } }: Stage): string =>
  fp8 + bf16 + fp32 === 0
    ? '–'
    : amount(fp8 + bf16 + fp32, [
        [1e12, 'TFLOP'],
        [1e9, 'GFLOP'],
        [1e6, 'MFLOP'],
      ]);
const time = (seconds: number): string =>
  amount(seconds, [
    [1, 's'],
    [1e-3, 'ms'],
    [1e-6, 'µs'],
  ]);

function timesTable(device: ExpectedDevice, step: ExpectedStep): string {
  const stages = qwen36Stages(step, device.ranks);
  const rows = stages.map((stage) => {
    const { seconds, bound } = timeOf(stage, device);
    return (
      `| ${stage.name} | ${String(stage.times)} | ${bytes(stage.bytes)} | ${operations(stage)} | ${bound} | ` +
      `${time(seconds)} | ${time(stage.times * seconds)} |`
    );
  });
  const total = stepSeconds(stages, device);
  const rate = (step.chunked ? step.rows : step.outputs) / total;
  return `| stage | times | bytes | operations | bound by | each | total |
|---|---:|---:|---:|---|---:|---:|
${rows.join('\n')}
| step | | | | | | ${time(total)}: ${whole(rate)} tokens/s |
`;
}

/** A decode on every card, with the launches that layers took before they were joined, and now. */
function cardsTable(): string {
  const step = decode(1);
  const cards = [
    ...['h100', 'h200', 'b200'].map((name) => memoryBoundDevice(name.toUpperCase(), bandwidthOf(name))),
    ...devices(),
  ];
  const rows = cards.map((card) => {
    const stages = qwen36Stages(step, card.ranks);
    const launching = stages.reduce((sum, stage) => sum + stage.times * launchSecondsOf(stage, card), 0);
    const now = stepSeconds(stages, card);
    const joined = launchesJoined(card.ranks) * card.launchSeconds.others;
    const name = card.ranks === 1 ? card.name : `${card.name}, ${String(card.ranks)} ranks`;
    return `| ${name} | ${time(now - launching)} | ${time(launching + joined)} | ${time(launching)} | ${time(now + joined)} | ${time(now)} |`;
  });
  return `| card | bytes and waiting | launches before | launches now | step before | step now |
|---|---:|---:|---:|---:|---:|
${rows.join('\n')}
`;
}

const termCards: readonly TermCard[] = [
  { name: 'H100', bandwidth: bandwidthOf('h100'), isHopper: true, multiprocessors: 132 },
  { name: 'H200', bandwidth: bandwidthOf('h200'), isHopper: true, multiprocessors: 132 },
  { name: 'B200', bandwidth: bandwidthOf('b200'), isHopper: false, multiprocessors: 148 },
  {
    ...{ name: 'MI300X', bandwidth: bandwidthOf('mi300x-spx-nps1') },
    ...{ isHopper: false, multiprocessors: compute.card },
  },
];

function occupancyTable(): string {
  const kernels = parseKernelTable(read('kernels.md'));
  const rows = parseLaunches(read('launches.tsv')).map((launch) => {
    const registers = kernels.get(launch.kernel);
    if (registers === undefined) throw new Error(`kernels.md has no ${launch.kernel} for gfx942`);
    const { vector, accumulation, scalar, sharedBytes } = registers;
    const { blocks, wavesPerSimd, limit } = occupancyOf(registers, launch);
    return (
      `| \`${launch.kernel}\` | ${launch.when} | ${String(vector)} v + ${String(accumulation)} a, ${String(scalar)} s | ` +
      `${String(launch.threads)} | ${whole(sharedBytes + launch.sharedBytes)} | ${String(blocks)} | ` +
      `${String(wavesPerSimd)} | ${limit} |`
    );
  });
  return `| kernel | when | registers | threads | local memory | blocks | waves | limited by |
|---|---|---:|---:|---:|---:|---:|---|
${rows.join('\n')}
`;
}

const percent = (share: number): string => `${(share * 100).toFixed(0)} %`;

export function mi300xPage(): string {
  const sections = devices().flatMap((device) => [
    `## On ${device.name}\n\nOne rank: ${whole(device.bandwidth / 1e9)} GB/s, ` +
      `${whole(device.rates.fp8 / 1e12)} TFLOP/s in FP8, ${whole(device.rates.bf16 / 1e12)} in BF16, ` +
      `${(device.rates.fp32 / 1e12).toFixed(1)} in float32.\n`,
    `One token for one sequence, ${whole(context)} tokens of context:\n\n${timesTable(device, decode(1))}`,
    `One token for each of 16 sequences, each with ${whole(context)} tokens of context:\n\n${timesTable(device, decode(16))}`,
    `A prompt of ${whole(promptTokens)} tokens:\n\n${timesTable(device, prompt)}`,
  ]);
  return `<!-- Generated by \`npm run generate\`. Do not edit. -->

# MI300X: occupancy of the kernels, and expected step times

Use this page to judge a first measurement on an MI300X: it says how many waves each kernel allows, and how long each stage
of a step of Qwen3.6-27B-FP8 should take. \`make bench-gpu GPU=hip\` measures
([GPUs](gpu.md#on-a-machine-with-a-device)).

**Nothing was measured on an MI300X**: no such card was available. Its figures are arithmetic over published peaks.

## Occupancy of the kernels

The table lists the launches of a step of Qwen3.6-27B-FP8 on gfx942:

- **registers**: of a thread; vector (v), accumulation (a) and scalar (s) registers, from
  [kernels.md](../../native/src/backends/gpu/kernels.md).
- **local memory**: bytes of a block.
- **blocks**: blocks that run on a compute unit at once.
- **waves**: waves that this puts on each of the compute unit's four SIMDs, of 8.

The rules and their sources are in \`test/gpu/occupancy.ts\`. Threads and local memory are those of the launches themselves
(\`native/src/backends/gpu/launches.tsv\`, which \`emulated_launches_test\` compares with the planners).

${occupancyTable()}
## How the times are computed

A stage takes the longer of two times: its bytes at ${percent(assumedShares.bandwidth)} of the memory's peak bandwidth, and its matrix operations at
${percent(assumedShares.matrix)} of the matrix units' peak. Both shares are assumptions. So is the wait of ${time(assumedWaitSeconds)} for another rank, each time.
On an H200, by the same assumptions, a token was to take 7.1 to 7.3 ms and took 9.7; the first token after 8,192 was to take 590 ms and
took 921 ([what was wrong](../../test/bench/RESULTS.md#gpus)).

A launch takes what it takes on an H200 beyond its bytes, where launches overlap (4.2 µs for a product, 2.5 for any other), and on
AMD's devices, where they do not, ${time(assumedGapSeconds)} more: assumed.

Not counted: sampling, and savings by caches.

- **Peaks**: 5.3 TB/s; 4,096 operations per clock and compute unit in FP8, 2,048 in BF16, 256 in float32, at 2.1 GHz (AMD's
  data sheet).
- **Partitions**: a partition in CPX is one die of 38 compute units, an eighth of the card. In NPS4, two partitions share a
  quarter of the memory, so each is assigned an eighth of the bandwidth. A partition alone may get more.
- **Bytes** are those of one rank: weights with their scales once per step, KV cache and recurrent states, and activations
  in float32, which one operation writes and the next reads.
- **Gated DeltaNet**: operations of its chunks run in float32.
- **All-reduce**: a sum over ranks reads the other rank's values at the memory's bandwidth, which partitions of one card
  share.

## One token on every card

One sequence, ${whole(context)} tokens of context. A layer of Gated DeltaNet took eight launches before its FFN and takes five: its
norm quantizes for both products (not behind a sum over ranks), and convolution, delta rule, norm and quantization are one. That the first weights of its large
product come while the small one runs is not counted. A layer of attention took seven and takes six: gates and quantization are part of the
launch that puts its splits together. An H200 took 9.72 ms before, after 1,024 tokens.

${cardsTable()}
## The first token after ${whole(context)} tokens on every card

What a prompt waits for beside bare operations, and what doing without it saves, as its bytes go at ${percent(assumedShares.bandwidth)} of the
bandwidth; none of what is done was measured. An H200 took 921 ms in all, where 450 are wanted. By this arithmetic, what is done
saves it up to ${savedMs(termCards.find(({ name }) => name === 'H200')!)} ms, attention a third of that; no less than the 28 of the gates' launch, which is gone. What a term took is of f2fd6c2c, where it was timed
by itself.

${promptTermsTable(termCards)}
${sections.join('\n')}`;
}
