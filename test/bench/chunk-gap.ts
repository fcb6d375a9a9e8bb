// Do chunks leave as they are produced? Serves a model whose step takes some 50 ms on this machine, streams from it
// through the gateway, and compares the median gap between chunks with the engine's own mean step time in those streams.
// usage: tsx test/bench/chunk-gap.ts (needs the local cluster with the operator: deploy/local/demo.sh operator)

import { median } from '../median.js';
import { eventually } from '../processes.js';
import { bucket, demoModel, upload } from '../e2e/bucket.js';
import { apply } from '../e2e/cluster.js';
import { call, stream } from '../e2e/gateway.js';
import { fromPod, makeNamespace, podOf, remove, serviceOf, waitReady } from '../e2e/service.js';
import type { Files } from '../builders/files.js';
import { llamaConfig, llamaTensors } from '../builders/llama.js';
import { bf16Noise, bf16Tensor, safetensors, type Tensors } from '../builders/safetensors.js';

const name = 'chunk-gap';
const host = 'chunk-gap.e2e.example';
const rounds = 5;
const tokensPerRound = 100;
/** Share of the step time by which the median gap may differ. */
const tolerance = 0.2;

/** 28 layers of Qwen3-0.6B's width with the demo model's tokenizer: 0.88 GB in BF16, read whole by every step. */
const size = { layers: 28, hidden: 1024, heads: 16, kvHeads: 8, headDim: 128, ffn: 3072, vocab: 2048 };

function model(): Files {
  const config = {
    ...llamaConfig(size),
    model_type: 'qwen3',
    max_position_embeddings: 4096,
    rope_theta: 1e6,
    torch_dtype: 'bfloat16',
  };
  const norms = Array.from({ length: size.layers }, (_, index) => ({
    [`model.layers.${String(index)}.self_attn.q_norm.weight`]: bf16Tensor(size.headDim),
    [`model.layers.${String(index)}.self_attn.k_norm.weight`]: bf16Tensor(size.headDim),
  }));
  const tensors = Object.assign(llamaTensors(size), ...norms) as Tensors;
  const { 'tokenizer.json': tokenizer = '', 'tokenizer_config.json': tokenizerConfig = '' } = demoModel();
  return {
    'config.json': Buffer.from(JSON.stringify(config)),
    'tokenizer.json': Buffer.from(tokenizer),
    'tokenizer_config.json': Buffer.from(tokenizerConfig),
    'model.safetensors': safetensors(tensors, bf16Noise()),
  };
}

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
