// Do chunks leave as they are produced? Serves a model whose step takes some 50 ms on this machine, streams from it
// through the gateway, and compares the median gap between chunks with the engine's own mean step time in those streams.
// usage: tsx test/bench/chunk-gap.ts (needs the local cluster with the operator: deploy/local/demo.sh operator)

import { eventually } from '../processes.js';
import { bucket, demoModel, upload, type Files } from '../e2e/bucket.js';
import { apply } from '../e2e/cluster.js';
import { call, stream } from '../e2e/gateway.js';
import { fromPod, makeNamespace, podOf, remove, serviceOf, waitReady } from '../e2e/service.js';
import { safetensors } from '../builders/checkpoint.js';

const name = 'chunk-gap';
const host = 'chunk-gap.e2e.example';
const rounds = 5;
const tokensPerRound = 100;
/** Share of the step time by which the median gap may differ. */
const tolerance = 0.2;

/** 28 layers of Qwen3-0.6B's width with the demo model's tokenizer: 0.88 GB in BF16, read whole by every step. */
const shape = { layers: 28, hidden: 1024, heads: 16, kvHeads: 8, headDim: 128, ffn: 3072, vocab: 2048 };

function model(): Files {
  const { layers, hidden, heads, kvHeads, headDim, ffn, vocab } = shape;
  const config = {
    model_type: 'qwen3',
    num_hidden_layers: layers,
    hidden_size: hidden,
    num_attention_heads: heads,
    num_key_value_heads: kvHeads,
    head_dim: headDim,
    intermediate_size: ffn,
    vocab_size: vocab,
    max_position_embeddings: 4096,
    rms_norm_eps: 1e-6,
    rope_theta: 1e6,
    tie_word_embeddings: true,
    torch_dtype: 'bfloat16',
  };
  const tensor = (...side: number[]) => ({ dtype: 'BF16', shape: side }) as const;
  const layer = (i: number) =>
    Object.entries({
      'input_layernorm.weight': tensor(hidden),
      'post_attention_layernorm.weight': tensor(hidden),
      'self_attn.q_proj.weight': tensor(heads * headDim, hidden),
      'self_attn.k_proj.weight': tensor(kvHeads * headDim, hidden),
      'self_attn.v_proj.weight': tensor(kvHeads * headDim, hidden),
      'self_attn.o_proj.weight': tensor(hidden, heads * headDim),
      'self_attn.q_norm.weight': tensor(headDim),
      'self_attn.k_norm.weight': tensor(headDim),
      'mlp.gate_proj.weight': tensor(ffn, hidden),
      'mlp.up_proj.weight': tensor(ffn, hidden),
      'mlp.down_proj.weight': tensor(hidden, ffn),
    }).map(([key, value]) => [`model.layers.${String(i)}.${key}`, value] as const);
  const weights = safetensors({
    'model.embed_tokens.weight': tensor(vocab, hidden),
    'model.norm.weight': tensor(hidden),
    ...Object.fromEntries(Array.from({ length: layers }, (_, i) => layer(i)).flat()),
  });
  const { 'tokenizer.json': tokenizer = '', 'tokenizer_config.json': tokenizerConfig = '' } = demoModel();
  return {
    'config.json': Buffer.from(JSON.stringify(config)),
    'tokenizer.json': Buffer.from(tokenizer),
    'tokenizer_config.json': Buffer.from(tokenizerConfig),
    'model.safetensors': randomWeights(weights),
  };
}

/** Fills the tensors with BF16 numbers between -1/16 and 1/16, one pattern again and again. */
function randomWeights(file: Uint8Array): Uint8Array {
  const data = file.subarray(8 + Number(Buffer.from(file.buffer).readBigUInt64LE()));
  // An odd number of values, so that rows of a power of two differ.
  const pattern = Buffer.alloc(2 * 65_537);
  const float = new Float32Array(1);
  const bits = new Uint16Array(float.buffer);
  for (let at = 0; at < pattern.byteLength; at += 2) {
    float[0] = (Math.random() - 0.5) / 8;
    pattern.writeUInt16LE(bits[1] ?? 0, at);
  }
  for (let at = 0; at < data.byteLength; at += pattern.byteLength) {
    data.set(pattern.subarray(0, Math.min(pattern.byteLength, data.byteLength - at)), at);
  }
  return file;
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

/** Milliseconds between the chunks of one answer. */
async function gaps(): Promise<number[]> {
  const body = { model: 'demo', prompt: 'The', max_tokens: tokensPerRound, ignore_eos: true, temperature: 1 };
  const arrivals: number[] = [];
  for await (const { atMs, data } of stream(host, '/v1/completions', body)) {
    if (data !== '[DONE]') arrivals.push(atMs);
  }
  return arrivals.slice(1).map((atMs, i) => atMs - (arrivals[i] ?? 0));
}

interface StepTotals {
  readonly steps: number;
  readonly seconds: number;
}

async function stepTotals(): Promise<StepTotals> {
  const text = await fromPod(await podOf(name), '/metrics');
  const read = (metric: string): number =>
    Number(new RegExp(`^${metric}\\{[^}]*\\} (\\S+)$`, 'm').exec(text)?.[1]);
  return {
    steps: read('llmservice_engine_steps_total'),
    seconds: read('llmservice_engine_step_seconds_total'),
  };
}

async function measure(): Promise<boolean> {
  console.log(`uploading the model to s3://${bucket}/${name}/ (0.9 GB)`);
  const uri = await upload(name, model());
  const resources = { requests: { cpu: '500m' }, limits: { memory: '3Gi' } };
  const engine = { maxModelLen: 1024, maxNumSeqs: 4 };
  await apply(serviceOf(name, { uri, host, engine, resources }));
  console.log('waiting until it serves');
  await waitReady(name, 300_000);
  await eventually('the route', async () => (await call(host, '/v1/models')).status === 200, 30_000);
  await gaps();

  const lines: boolean[] = [];
  for (let round = 1; round <= rounds; round++) {
    const before = await stepTotals();
    const gapMs = median(await gaps());
    const after = await stepTotals();
    const stepMs = ((after.seconds - before.seconds) / (after.steps - before.steps)) * 1000;
    const ratio = gapMs / stepMs;
    lines.push(Math.abs(ratio - 1) <= tolerance);
    console.log(
      `round ${String(round)}: step ${stepMs.toFixed(1)} ms, median gap ${gapMs.toFixed(1)} ms, ratio ${ratio.toFixed(3)}`,
    );
  }
  return lines.filter(Boolean).length > rounds / 2;
}

await makeNamespace();
try {
  const within = await measure();
  console.log(
    `${within ? 'within' : 'NOT within'} ${String(tolerance * 100)} % of the step time in most rounds`,
  );
  process.exitCode = within ? 0 : 1;
} finally {
  await remove(name);
}
