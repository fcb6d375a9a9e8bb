// The stages of a step of Qwen3.6-27B-FP8 as the GPU backend runs them: FP8 weights by FP8 activations, head and gates in
// BF16, activations float32 in memory between operations, KV in BF16, recurrent state in float32. Sizes are those of
// config.json; the ranks share heads, columns and vocabulary evenly.

import {
  assumedWaitSeconds,
  type ExpectedStep,
  type Launches,
  type Operations,
  type Stage,
} from './expected-times.js';

const hidden = 5120;
const ffn = 17408;
const vocabulary = 248320;
const layers = { gdn: 48, attention: 16 } as const;
const attention = { heads: 24, kvHeads: 4, dim: 256 } as const;
const gdn = { kHeads: 16, vHeads: 48, dim: 128, taps: 4, chunk: 64 } as const;

const none: Operations = { fp8: 0, bf16: 0, fp32: 0 };
const floatBytes = 4;
const halfBytes = 2;

/** Weights that a rank has of a stage, in elements. */
interface Weights {
  readonly fp8: number;
  readonly bf16: number;
}

const qkvz = gdn.dim * (2 * gdn.kHeads + 2 * gdn.vHeads);
const gdnValues = gdn.dim * gdn.vHeads;
const attentionInputs = attention.dim * 2 * (attention.heads + attention.kvHeads);
const attentionValues = attention.dim * attention.heads;

/** What its products put out, and how often they run. */
export const qwen36Shape = {
  ...{ hidden, ffn, layers },
  outputs: { gdn: qkvz, attention: attentionInputs, values: gdnValues },
} as const;

/** Matrix weights of each kind of layer and of the head, all ranks together. */
export const qwen36Weights = {
  gdn: { fp8: hidden * (qkvz + gdnValues), bf16: hidden * 2 * gdn.vHeads },
  attention: { fp8: hidden * (attentionInputs + attentionValues), bf16: 0 },
  ffn: { fp8: hidden * 3 * ffn, bf16: 0 },
  head: { fp8: 0, bf16: hidden * vocabulary },
} as const satisfies Record<string, Weights>;

/** Operations of `rows` rows by a rank's weights, and the bytes of those: a scale for 64 rows and 128 columns. */
function products({ fp8, bf16 }: Weights, ranks: number, rows: number): Pick<Stage, 'bytes' | 'operations'> {
  return {
    bytes: (fp8 * (1 + floatBytes / (64 * 128)) + bf16 * halfBytes) / ranks,
    operations: { ...none, fp8: (2 * rows * fp8) / ranks, bf16: (2 * rows * bf16) / ranks },
  };
}

/** Floats of a row that operations leave in memory and read again: all ranks have the hidden state, and share the rest. */
const activations = (rows: number, shared: number, ranks: number): number =>
  rows * floatBytes * 2 * (hidden + shared / ranks);

export function qwen36Stages(step: ExpectedStep, ranks: number): Stage[] {
  const stages = [
    embedding(step),
    gdnLayer(step, ranks),
    attentionLayer(step, ranks),
    ffnStage(step, ranks),
    head(step, ranks),
  ];
  return ranks === 1 ? stages : [...stages, allReduce(step, ranks)];
}

const stage = (name: string, times: number, work: Omit<Stage, 'name' | 'times' | 'waiting'>): Stage => ({
  name,
  times,
  ...work,
  waiting: 0,
});

// Launches of a step on one rank. Of GDN the norm for both products, these and the one behind, and one for all between;
// `gpu_gdn_step_test_32` counts them with those of the FFN. Chunks take the convolution's two, prepare, scan, norm, what is
// left behind them, and a quantization. Behind a sum over ranks, whose launch is its own stage's, nothing is quantized with
// the norm: one launch each for one product, two for both of GDN's.
const gdnLaunches = (chunked: boolean, ranks: number): Launches => ({
  products: 3,
  others: (chunked ? 8 : 2) + (ranks > 1 ? 1 : 0),
});
// Norm, KV write and splits, and one for their sum, the gates and a quantization; `gpu_attention_end_test_32` counts them.
// Prompts have no splits, and gates and quantization behind attention.
const attentionLaunches: Launches = { products: 2, others: 4 };
const ffnLaunches: Launches = { products: 2, others: 2 };

/** Every row has its place on one rank; the slowest has them all. */
const embedding = ({ rows }: ExpectedStep): Stage =>
  stage('embedding', 1, {
    bytes: rows * hidden * (halfBytes + floatBytes),
    operations: none,
    launches: { products: 0, others: 2 },
  });

function gdnLayer({ rows, sequences, chunked }: ExpectedStep, ranks: number): Stage {
  const { bytes, operations } = products(qwen36Weights.gdn, ranks, rows);
  const state = gdn.vHeads * gdn.dim * gdn.dim + gdn.dim * (2 * gdn.kHeads + gdn.vHeads) * (gdn.taps - 1);
  // Per chunk and V head: (βK)Kᵀ, QKᵀ, T(βV), T(βK), tril·V' over (64, 64, 128); W·S, Q·S, KᵀV' over (64, 128, 128);
  // and the inverse.
  const { chunk, dim } = gdn;
  const ofChunk = 5 * 2 * chunk * chunk * dim + 3 * 2 * chunk * dim * dim + (2 / 3) * chunk ** 3;
  const fp32 = chunked ? (ofChunk * gdn.vHeads * Math.ceil(rows / chunk)) / ranks : 0;
  return stage('GDN layer', layers.gdn, {
    bytes:
      bytes +
      (2 * floatBytes * state * sequences) / ranks +
      activations(rows, qkvz + 2 * gdn.vHeads + gdnValues, ranks),
    operations: { ...operations, fp32 },
    launches: gdnLaunches(chunked, ranks),
  });
}

function attentionLayer({ rows, sequences, context, chunked }: ExpectedStep, ranks: number): Stage {
  const { bytes, operations } = products(qwen36Weights.attention, ranks, rows);
  // A prompt's rows read its KV tile by tile, from caches: of memory it is counted once.
  const positions = chunked ? rows : sequences * context;
  const kv = 2 * attention.kvHeads * attention.dim * halfBytes * positions;
  return stage('attention layer', layers.attention, {
    bytes: bytes + kv / ranks + activations(rows, attentionInputs + attentionValues, ranks),
    operations: { ...operations, bf16: (4 * rows * context * attention.heads * attention.dim) / ranks },
    launches: attentionLaunches,
  });
}

function ffnStage({ rows }: ExpectedStep, ranks: number): Stage {
  const { bytes, operations } = products(qwen36Weights.ffn, ranks, rows);
  return stage('FFN', layers.gdn + layers.attention, {
    // Of what the gates put out, codes alone lie in memory.
    bytes: bytes + activations(rows, 2 * ffn, ranks) + (2 * rows * ffn) / ranks,
    operations,
    launches: ffnLaunches,
  });
}

function head({ outputs }: ExpectedStep, ranks: number): Stage {
  const { bytes, operations } = products(qwen36Weights.head, ranks, outputs);
  return stage('head', 1, {
    bytes: bytes + (outputs * vocabulary * floatBytes) / ranks,
    operations,
    launches: { products: 1, others: 6 },
  });
}

/** After every mixer and every FFN, in float32: kernels/all_reduce.h, whose one-shot form ends at 48 Ki floats. */
function allReduce({ rows }: ExpectedStep, ranks: number): Stage {
  const floats = rows * hidden;
  const oneShot = floats <= 48 << 10;
  const moved = oneShot ? ranks - 1 : (2 * (ranks - 1)) / ranks;
  return {
    name: 'sum over ranks',
    times: 2 * (layers.gdn + layers.attention),
    // Own values are copied and the result is written; the others' are read.
    bytes: floats * floatBytes * (3 + moved),
    operations: none,
    launches: { products: 0, others: 0 },
    waiting: (oneShot ? 1 : 2) * assumedWaitSeconds,
  };
}
