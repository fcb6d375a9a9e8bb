import { describe, expect, test } from '@jest/globals';

import { parseLines, type BenchLine, type OpLine } from './bench-lines.js';
import { renderReport } from './report.js';
import { minMicros, rooflineOf } from './rooflines.js';

const origin = { date: '1 January 2030', commit: 'abc1234', command: 'make bench-gpu' };
const device: BenchLine = {
  section: 'device',
  name: 'NVIDIA H200',
  architecture: 'sm_90',
  memory_bytes: 141e9,
  multiprocessors: 132,
};
const shape = { op: 'product', name: 'down', rows: 1, outputs: 5120, cols: 17408, dtype: 'e4m3' } as const;
/** Half of what the bandwidth allows. */
const down: OpLine = {
  ...shape,
  section: 'op',
  micros: 40,
  bytes: 96e6,
  flops: 178e6,
  eight_bit: true,
};

const cellsOf = (report: string, first: string): string[] =>
  report
    .split('\n')
    .find((line) => line.startsWith(`| ${first} |`))!
    .split('|')
    .map((cell) => cell.trim())
    .slice(1, -1);

describe('rooflines', () => {
  test('are found by the name that a driver gives', () => {
    expect(rooflineOf('NVIDIA H100 80GB HBM3')?.bandwidth).toBe(3.35e12);
    expect(rooflineOf('AMD Instinct MI300X')?.e4m3).toBe(2615e12);
    expect(rooflineOf('kernel emulator')).toBeNull();
  });

  test('bound by bytes or by products, whichever takes longer', () => {
    const roofline = rooflineOf('NVIDIA H200')!;
    expect(minMicros(roofline, { bytes: 4.8e6, flops: 0, eightBit: true })).toBeCloseTo(1);
    expect(minMicros(roofline, { bytes: 0, flops: 1979e6, eightBit: true })).toBeCloseTo(1);
    expect(minMicros(roofline, { bytes: 0, flops: 989e6, eightBit: false })).toBeCloseTo(1);
  });
});

describe('renderReport', () => {
  test('reports bytes a second, the share of the roofline and the best peer of that very shape', () => {
    const peer = (name: string, micros: number, rows = 1): BenchLine => ({
      ...shape,
      section: 'peer',
      peer: name,
      rows,
      micros,
    });
    const lines = [device, down, peer('slow', 90), peer('fast', 50), peer('other shape', 1, 2)];
    expect(cellsOf(renderReport(lines, origin), 'down')).toEqual([
      'down',
      'e4m3',
      '5120 × 17408',
      '1',
      '40.0',
      '2400 GB/s',
      '50 %',
      'fast: 50.0',
      '1.25 ×',
    ]);
  });

  test('reports operations a second where products are the bound', () => {
    const large: OpLine = { ...down, rows: 8192, micros: 1000, bytes: 5e8, flops: 1e12 };
    expect(cellsOf(renderReport([device, large], origin), 'down').slice(5, 8)).toEqual([
      '1000.0 TFLOP/s',
      '51 %',
      '–',
    ]);
  });

  test('names what is absent, and claims no share of an unknown device', () => {
    const absent = { section: 'absent', peer: 'torch', why: "No module named 'torch'" } as const;
    const report = renderReport([{ ...device, name: 'kernel emulator' }, down, absent], origin);
    expect(report).toContain("Absent or refused: torch (No module named 'torch').");
    expect(report).toContain('The device is not in the table of rooflines.');
    expect(cellsOf(report, 'down').slice(6)).toEqual(['–', '–', '–']);
  });

  test('reports each step kernel by kernel, with and without drafts apart', () => {
    const step = (drafts: number, micros: number): BenchLine[] => [
      { section: 'model', what: 'step', step: 'decode', drafts, launches: 3, micros },
      {
        section: 'model',
        what: 'kernel',
        step: 'decode',
        drafts,
        kernel: 'product',
        grid: [8, 1, 1],
        launches: 2,
        micros: 30,
      },
      {
        section: 'model',
        what: 'kernel',
        step: 'decode',
        drafts,
        kernel: `norm ${String(drafts)}`,
        grid: [1, 1, 1],
        launches: 1,
        micros: 10,
      },
    ];
    const report = renderReport([...step(0, 35), ...step(4, 39)], origin);
    expect(report).toContain('3 launches take 35 µs as they follow one another; each kind by itself, 40 µs');
    expect(cellsOf(report, 'product')).toEqual(['product', '8 × 1 × 1', '2', '15.00', '30', '75 %']);
    expect(cellsOf(report, 'norm 4')[5]).toBe('25 %');
    expect(report).toContain('#### Kernel by kernel: decode, 4 drafts each');
  });

  test('reports acceptance, and tokens that drafts changed', () => {
    const many = {
      section: 'model',
      what: 'load of many',
      drafts: 4,
      sequences: 16,
      prompt: 8192,
      generated: 1024,
      tokens_per_second: 5000,
      step_micros: 12000,
      drafted: 4,
      accepted: 3,
    } as const;
    const rows = cellsOf(
      renderReport([{ ...many, as_without_drafts: false }], origin),
      '16 sequences, 8192 in and 1024 out',
    );
    expect(rows[1]).toBe('4, 75 % accepted');
    expect(rows[2]).toBe(
      '5000 tokens/s in all, 12.00 ms a step that decodes; NOT the tokens that it gave without drafts',
    );
  });

  test('a part that did not run has no table', () => {
    expect(renderReport([], origin)).not.toContain('####');
  });
});

test('lines are read one by one, empty ones left out', () => {
  expect(parseLines(`${JSON.stringify(device)}\n\n${JSON.stringify(down)}\n`)).toEqual([device, down]);
});
