// A section of RESULTS.md from what the parts of the benchmark printed: `report.ts COMMIT COMMAND LINES.jsonl...` writes
// it to standard output. A part that did not run has no table.

import { readFileSync } from 'node:fs';
import { argv, stdout } from 'node:process';
import { fileURLToPath } from 'node:url';

import {
  parseLines,
  sameOp,
  type BenchLine,
  type HttpLine,
  type ModelLine,
  type OpLine,
  type PeerLine,
} from './bench-lines.js';
import { minMicros, rooflineOf, type Roofline } from './rooflines.js';

/** Where the lines are from. */
export interface Origin {
  readonly date: string;
  readonly commit: string;
  readonly command: string;
}

const opTitles = {
  product: 'Products with packed weights, quantization of the activations included',
  attention: 'Attention over a paged cache',
  gdn: 'Gated DeltaNet, convolution included',
} as const;

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
}

const percent = (share: number): string => `${(100 * share).toFixed(0)} %`;

function shapeOf(op: OpLine): string {
  const parts = [
    op.outputs !== undefined ? `${op.outputs} × ${String(op.cols)}` : '',
    (op.sequences ?? 1) > 1 ? `${String(op.sequences)} sequences` : '',
    op.context !== undefined ? `${op.context} positions` : '',
  ];
  return parts.filter((part) => part !== '').join(', ');
}

/** By bytes or by products, whichever is closer to its roofline. */
function throughput(op: OpLine, roofline: Roofline | null): string {
  const seconds = op.micros / 1e6;
  const rate = op.eight_bit ? (roofline?.e4m3 ?? roofline?.bf16) : roofline?.bf16;
  const byProducts =
    roofline !== null && rate !== undefined && op.flops / rate > op.bytes / roofline.bandwidth;
  return byProducts
    ? `${(op.flops / seconds / 1e12).toFixed(1)} TFLOP/s`
    : `${(op.bytes / seconds / 1e9).toFixed(0)} GB/s`;
}

function opRow(op: OpLine, peers: readonly PeerLine[], roofline: Roofline | null): string[] {
  const rivals = peers.filter((peer) => sameOp(op, peer)).sort((a, b) => a.micros - b.micros);
  const [best] = rivals;
  const least =
    roofline === null
      ? null
      : minMicros(roofline, { bytes: op.bytes, flops: op.flops, eightBit: op.eight_bit });
  return [
    op.name,
    op.dtype ?? 'f32',
    shapeOf(op),
    String(op.rows),
    op.micros.toFixed(1),
    throughput(op, roofline),
    least === null ? '–' : percent(least / op.micros),
    best === undefined ? '–' : `${best.peer}: ${best.micros.toFixed(1)}`,
    best === undefined ? '–' : `${(best.micros / op.micros).toFixed(2)} ×`,
  ];
}

function opTables(ops: readonly OpLine[], peers: readonly PeerLine[], roofline: Roofline | null): string[] {
  const head = [
    '',
    'type',
    'shape',
    'rows',
    'µs',
    'throughput',
    'of roofline',
    'best peer, µs',
    'speed to it',
  ];
  return (['product', 'attention', 'gdn'] as const).flatMap((kind) => {
    const rows = ops.filter(({ op }) => op === kind).map((op) => opRow(op, peers, roofline));
    return rows.length === 0 ? [] : [`#### ${opTitles[kind]}`, table(head, rows)];
  });
}

const number = (value: unknown): number => (typeof value === 'number' ? value : NaN);
const drafts = (line: ModelLine): string =>
  line.drafts === 0
    ? 'none'
    : `${line.drafts}, ${percent(number(line['accepted']) / number(line['drafted']))} accepted`;

function modelRow(line: ModelLine): string[] {
  const count = (field: string): string => String(number(line[field]));
  const ms = (field: string): string => `${(number(line[field]) / 1000).toFixed(2)} ms`;
  switch (line.what) {
    case 'load':
      return [
        'loading',
        '',
        `${number(line['seconds']).toFixed(1)} s for ${(number(line['weight_bytes']) / 1e9).toFixed(1)} GB`,
      ];
    case 'decode':
      return [
        `1 sequence after ${count('prompt')} tokens`,
        drafts(line),
        `${ms('micros_per_token')} a token, ${ms('step_micros')} a step`,
      ];
    case 'first token':
      return [
        `first token after ${count('prompt')}`,
        'none',
        `${(1000 * number(line['seconds'])).toFixed(0)} ms`,
      ];
    default:
      return [
        `${count('sequences')} sequences, ${count('prompt')} in and ${count('generated')} out`,
        drafts(line),
        `${number(line['tokens_per_second']).toFixed(0)} tokens/s in all, ${ms('step_micros')} a step that decodes` +
          (line['as_without_drafts'] === false ? '; NOT the tokens that it gave without drafts' : ''),
      ];
  }
}

function modelTables(lines: readonly ModelLine[]): string[] {
  const runs = lines.filter(({ what }) => what !== 'step' && what !== 'kernel');
  const steps = lines.filter(({ what }) => what === 'step');
  return [
    ...(runs.length === 0
      ? []
      : ['#### The whole model in one process', table(['', 'drafts', 'measured'], runs.map(modelRow))]),
    ...steps.flatMap((step) => kernelTable(step, lines)),
  ];
}

function kernelTable(step: ModelLine, lines: readonly ModelLine[]): string[] {
  const kernels = lines.filter(
    (line) => line.what === 'kernel' && line['step'] === step['step'] && line.drafts === step.drafts,
  );
  const sum = kernels.reduce((total, { micros }) => total + number(micros), 0);
  const rows = kernels.map((line) => [
    String(line['kernel']),
    (line['grid'] as number[]).join(' × '),
    String(line['launches']),
    (number(line['micros']) / number(line['launches'])).toFixed(2),
    number(line['micros']).toFixed(0),
    percent(number(line['micros']) / sum),
  ]);
  const name = `${String(step['step'])}${step.drafts === 0 ? '' : `, ${step.drafts} drafts each`}`;
  return [
    `#### Kernel by kernel: ${name}`,
    `${String(step['launches'])} launches take ${number(step['micros']).toFixed(0)} µs as they follow one another; ` +
      `each kind by itself, ${sum.toFixed(0)} µs together.`,
    table(['kernel', 'grid', 'launches', 'µs each', 'µs', 'share'], rows),
  ];
}

function httpTable(lines: readonly HttpLine[]): string[] {
  if (lines.length === 0) return [];
  const rows = lines.map(({ what, value, unit }) => [what, `${value.toPrecision(4)} ${unit}`]);
  return ['#### Through the HTTP server', table(['', 'measured'], rows)];
}

/** Markdown, a heading of the third level first. */
export function renderReport(lines: readonly BenchLine[], origin: Origin): string {
  const of = <Section extends BenchLine['section']>(section: Section) =>
    lines.filter((line): line is Extract<BenchLine, { section: Section }> => line.section === section);
  const device = of('device')[0];
  const roofline = device === undefined ? null : rooflineOf(device.name);
  const torch = of('peers')[0];
  const absent = of('absent').map(({ peer, why }) => `${peer} (${why})`);
  const name = device === undefined ? 'no device' : `${device.name} (${device.architecture})`;
  return [
    `### ${origin.date}, commit ${origin.commit}: Qwen3.6-27B-FP8's shape on ${name}, random weights`,
    `Command: \`${origin.command}\`. Medians of device events; weights, caches and states rotated beyond the L2, ` +
      'which is cleared before each sample. Deterministic mode.' +
      (roofline === null ? ' The device is not in the table of rooflines.' : ''),
    ...(torch === undefined ? [] : [`Peers: torch ${torch.torch} (${torch.cuda}).`]),
    ...(absent.length === 0 ? [] : [`Absent or refused: ${absent.join('; ')}.`]),
    ...opTables(of('op'), of('peer'), roofline),
    ...modelTables(of('model')),
    ...httpTable(of('http')),
  ].join('\n\n');
}

if (argv[1] !== undefined && fileURLToPath(import.meta.url) === argv[1]) {
  const [commit = 'unknown', command = 'make bench-gpu', ...files] = argv.slice(2);
  const lines = files.flatMap((file) => parseLines(readFileSync(file, 'utf8')));
  const date = new Date().toLocaleDateString('en-GB', { day: 'numeric', month: 'long', year: 'numeric' });
  stdout.write(`${renderReport(lines, { date, commit, command })}\n`);
}
