// Our engine beside llama.cpp on models of the same shape and random weights, in turn: tokens a second of prompts and of
// sequences that decode together, ratios of each round, and our share of what memory and multiplications give at most.
// usage: tsx test/bench/peers.ts [ROUNDS [ARCHITECTURE [ISA]]]; ISA: auto, or avx2 for both sides. Needs 8 GB of disk and of memory.
//
// A run that others disturbed says so, and is repeated twice at most.

import { availableParallelism } from 'node:os';
import { dirname } from 'node:path';
import { median } from '../median.js';
import { measures, ratiosTo, tableOf, type Contender, type Figures } from './peers/figures.js';
import { LlamaCpp } from './peers/llama-cpp.js';
import { LlmService } from './peers/llmservice.js';
import { buildPrograms, PeerModels } from './peers/models.js';
import { loadBefore, watchDisturbances } from './peers/quiet.js';

const [rounds = '5', architecture = 'qwen3', isa = 'auto'] = process.argv.slice(2);
const maxRuns = 3;
const avx2Options = [
  '-DGGML_NATIVE=OFF',
  ...['AVX2', 'FMA', 'F16C', 'BMI2'].map((one) => `-DGGML_${one}=ON`),
];
const threads = availableParallelism();

const load = loadBefore();
const programs = buildPrograms(...(isa === 'avx2' ? ['avx2', ...avx2Options] : ['native']));
const models = new PeerModels(programs, architecture);
try {
  const contenders = makeContenders();
  // Later runs come after our own load, which hides that of others.
  for (let left = maxRuns; left > 0 && compare(contenders, left === maxRuns ? load : 0).length > 0; left--) {
    console.log(left > 1 ? '\nThe run is repeated.\n' : '\nNo run was quiet: only its ratios say something.');
  }
} finally {
  models.remove();
}

/** Models: ours in FP8 and BF16, theirs in BF16 and Q8_0, and the same Q4_K_M file for both. */
function makeContenders(): { readonly ours: LlmService[]; readonly theirs: LlamaCpp[] } {
  const own = (folder: string, format: string): LlmService =>
    new LlmService(programs.ours, folder, architecture, format, isa);
  const their = (kind: 'bf16' | 'q8_0' | 'q4_k_m'): LlamaCpp =>
    new LlamaCpp(programs.theirs, models.gguf(kind), kind.toUpperCase(), threads);
  return {
    ours: [
      own(models.checkpoint('FP8'), 'FP8'),
      own(models.checkpoint('BF16'), 'BF16'),
      own(dirname(models.gguf('q4_k_m')), 'Q4_K_M'),
    ],
    theirs: [their('bf16'), their('q8_0'), their('q4_k_m')],
  };
}

/** One run of all rounds, printed; what disturbed it. */
function compare({ ours, theirs }: ReturnType<typeof makeContenders>, load: number): readonly string[] {
  const disturbed = watchDisturbances(load);
  const figures = new Map<Contender, Figures[]>([...ours, ...theirs].map((contender) => [contender, []]));
  for (const contender of ours) contender.lines.length = 0;
  for (let round = 1; round <= Number(rounds); round++) {
    console.error(`round ${round} of ${rounds}`);
    for (const [contender, taken] of figures) taken.push(contender.measure());
  }
  const of = (format: string, among: readonly Contender[]): readonly Figures[] =>
    figures.get(among.find((contender) => contender.format === format)!)!;
  console.log(`${architecture}, ${threads} threads, ${isa}; medians of ${rounds} rounds in turn\n`);
  console.log(tableOf(figures).join('\n'));
  const line = (what: string, ratios: Figures): void =>
    console.log(
      `${what}: ${measures.map((measure) => `${measure} ${ratios[measure].toFixed(2)}`).join(', ')}`,
    );
  console.log();
  line(
    'FP8 to the faster of BF16 and Q8_0',
    ratiosTo(of('FP8', ours), [of('BF16', theirs), of('Q8_0', theirs)]),
  );
  line('Q4_K_M to Q4_K_M', ratiosTo(of('Q4_K_M', ours), [of('Q4_K_M', theirs)]));
  for (const contender of ours) console.log(sharesOf(contender));
  const found = disturbed(ours.flatMap(({ lines }) => lines.map(({ bandwidth }) => bandwidth)));
  for (const sentence of found) console.log(`not quiet: ${sentence}`);
  return found;
}

function sharesOf({ format, lines }: LlmService): string {
  const percent = (values: readonly number[]): string => `${(100 * median(values)).toFixed(0)} %`;
  const [one, long] = [512, 2048].map((prompt) => lines.filter((line) => line.prompt === prompt));
  const bandwidth = median(lines.map((line) => line.bandwidth / 1e9)).toFixed(1);
  const beside = median(one!.map((line) => (line.residentBytes - line.kvBytes) / line.weightBytes - 1));
  return (
    `${format}: decode 1 at ${percent(one!.map((line) => line.ofBandwidth))} of ${bandwidth} GB/s, prefill 512 and 2048 at ` +
    `${percent(one!.map((line) => line.ofPeak))} and ${percent(long!.map((line) => line.ofPeak))} of the peak of BF16 pairs; ` +
    `loaded in ${median(one!.map((line) => line.loadSeconds)).toFixed(2)} s, resident ${(100 * beside).toFixed(0)} % over weights and KV`
  );
}
