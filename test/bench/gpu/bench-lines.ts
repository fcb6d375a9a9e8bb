// What the parts of the benchmark print, one JSON object a line (native/bench/gpu, peers.py, http-bench.ts).

interface OpShape {
  readonly op: 'product' | 'attention' | 'gdn';
  readonly name: string;
  readonly rows: number;
  readonly sequences?: number;
  readonly context?: number;
  readonly outputs?: number;
  readonly cols?: number;
  readonly dtype?: string;
}

export interface OpLine extends OpShape {
  readonly section: 'op';
  readonly micros: number;
  readonly bytes: number;
  readonly flops: number;
  readonly eight_bit: boolean;
}

export interface PeerLine extends OpShape {
  readonly section: 'peer';
  readonly peer: string;
  readonly micros: number;
}

export interface ModelLine {
  readonly section: 'model';
  /** load, decode, first token, load of many, step or kernel. */
  readonly what: string;
  /** Of each sequence and step. */
  readonly drafts: number;
  readonly [field: string]: unknown;
}

export interface HttpLine {
  readonly section: 'http';
  readonly what: string;
  readonly value: number;
  readonly unit: string;
}

export type BenchLine =
  | OpLine
  | PeerLine
  | ModelLine
  | HttpLine
  | {
      readonly section: 'device';
      readonly name: string;
      readonly architecture: string;
      readonly memory_bytes: number;
      readonly multiprocessors: number;
    }
  | { readonly section: 'peers'; readonly torch: string; readonly cuda: string }
  | { readonly section: 'absent'; readonly peer: string; readonly why: string };

/** @throws SyntaxError at a line that is no JSON. */
export function parseLines(text: string): BenchLine[] {
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line) as BenchLine);
}

/** Whether both are the same operation at the same shape, on weights and caches of the same type. */
export function sameOp(a: OpShape, b: OpShape): boolean {
  const fields = ['op', 'name', 'rows', 'sequences', 'context', 'outputs', 'cols', 'dtype'] as const;
  return fields.every((field) => a[field] === b[field]);
}
