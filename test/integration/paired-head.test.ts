// The layer for multi-token prediction from engine.speculative.uri: a model whose release in the bucket has none drafts by
// that of another release, of which the files that hold it are pulled and no others.

import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { mkdtempSync, readdirSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openCheckpoint, openDraftModel, openEagle3 } from '@llmservice/checkpoint/local';
import type { HeadMethod } from '../../runtime/src/weights/inspect-head.js';
import { obtainCheckpoint, type ObtainedCheckpoint } from '../../runtime/src/weights/obtain-checkpoint.js';
import { lastHiddenDrafter } from '../builders/eagle3-drafter.js';
import { readFiles } from '../builders/files.js';
import { layerlessModel } from '../builders/small-model.js';
import { isOfTrunk, only, readStoredTensors, storedFile } from '../builders/stored-tensors.js';
import { eventually } from '../processes.js';
import { demoCheckpoint, ReplicaProcess } from './replica-process.js';
import { nobodys } from './pull-world.js';
import { S3Server, s3Environment, s3Keys } from './s3-server.js';

jest.setTimeout(120_000);

const goldenDir = fileURLToPath(new URL('../golden/', import.meta.url));
const holdsHead = 'model-00002-of-00002.safetensors';
const index = 'model.safetensors.index.json';
const accepted = 'vllm:spec_decode_num_accepted_tokens_total';

let s3: S3Server;
let weightsDir: string;
let replica: ReplicaProcess | null = null;

beforeAll(async () => {
  s3 = await S3Server.start();
  const whole = readFiles(demoCheckpoint);
  const texts = Object.fromEntries(Object.entries(whole).filter(([name]) => !name.startsWith('model')));
  const trunk = storedFile(only(readStoredTensors(demoCheckpoint), isOfTrunk));
  s3.put('models', 'whole', whole);
  s3.put('models', 'trunk', { ...texts, 'model.safetensors': trunk });
  s3.put('heads', 'fp8', whole);
  s3.remove('heads', 'fp8/tokenizer.json');
  s3.put('heads', 'lacks-a-file', whole);
  s3.remove('heads', `lacks-a-file/${holdsHead}`);
  const config = JSON.parse(String(whole['config.json'])) as { text_config?: object };
  const other = { ...config, text_config: { ...config.text_config, vocab_size: 77 } };
  s3.put('heads', 'other-model', { ...whole, 'config.json': JSON.stringify(other) });
  s3.put('heads', 'a-gguf', { 'model.gguf': Buffer.from('GGUF') });
});
afterAll(() => s3.stop());

afterEach(async () => {
  await replica?.stop();
  replica = null;
  rmSync(weightsDir, { recursive: true });
});

/** A model without a head that the disk cannot hold; returns the bytes that its pull would write. */
function putHuge(): number {
  const { bavail, bsize } = statfsSync(tmpdir());
  const bytes = 2 * bavail * bsize;
  const tensor = { dtype: 'U8', shape: [bytes], data_offsets: [0, bytes] };
  const header = Buffer.from(JSON.stringify({ 'model.norm.weight': tensor }));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.byteLength));
  const head = Buffer.concat([length, header]);
  const { 'config.json': config, 'tokenizer.json': tokenizer } = readFiles(demoCheckpoint);
  s3.put('models', 'huge', { 'config.json': config!, 'tokenizer.json': tokenizer! });
  s3.putSparse('models', 'huge', 'model.safetensors', head, head.byteLength + bytes);
  return head.byteLength + bytes + config!.byteLength + tokenizer!.byteLength;
}

async function serve(
  uri: string,
  speculative: object,
  tensor = 1,
  { dir, cache }: { readonly dir?: string; readonly cache?: object } = {},
): Promise<ReplicaProcess> {
  weightsDir = dir ?? mkdtempSync(join(tmpdir(), 'llmservice-paired-'));
  replica = await ReplicaProcess.start({
    uri,
    endpoint: s3.endpoint,
    tensor,
    ...(cache === undefined ? {} : { cache }),
    engine: { speculative: { tokens: 3, ...speculative } },
    env: { ...s3Environment, LLMSERVICE_WEIGHTS_DIR: weightsDir },
  });
  return replica;
}

/** Of a greedy completion, its text and logprobs. */
async function answer(of: ReplicaProcess): Promise<unknown> {
  const body = { prompt: 'The capital of France is', max_tokens: 48, temperature: 0, logprobs: 1 };
  const response = await of.post('/v1/completions', { ...body, ignore_eos: true });
  expect(response.status).toBe(200);
  return ((await response.json()) as { choices: unknown }).choices;
}

const pulledFolders = (): string[] => readdirSync(weightsDir).sort();

describe.each([1, 2])('on %i ranks', (tensor) => {
  test('drafts are accepted, answers are those of the single release, and only the files with the head are pulled', async () => {
    const single = await serve('s3://models/whole/', { method: 'mtp' }, tensor);
    await single.ready();
    const wanted = await answer(single);
    const wantedAccepted = await single.metric(accepted);
    await single.stop();
    rmSync(weightsDir, { recursive: true });

    const paired = await serve('s3://models/trunk/', { method: 'mtp', uri: 's3://heads/fp8/' }, tensor);
    await paired.ready();
    expect(await answer(paired)).toEqual(wanted);
    expect(wantedAccepted).toBeGreaterThan(0);
    expect(await paired.metric(accepted)).toBe(wantedAccepted);
    const [head = ''] = pulledFolders().filter((name) => name.endsWith('-mtp'));
    const files = readdirSync(join(weightsDir, head)).filter((name) => !name.startsWith('.'));
    expect(files.sort()).toEqual(['config.json', holdsHead, index]);
  });
});

test('both are read from a cache of the node, by who pulled them and by who comes later', async () => {
  const cache = {
    ...{ volume: 'hostPath /cache', maxBytes: null, verify: 'onPull' },
    pins: { model: null, head: null },
  };
  const head = { method: 'mtp', uri: 's3://heads/fp8/' };
  const first = await serve('s3://models/trunk/', head, 1, { cache });
  await first.ready();
  const wanted = await answer(first);
  const drafted = await first.metric(accepted);
  expect(drafted).toBeGreaterThan(0);
  await eventually('both to be complete', () =>
    readdirSync(join(weightsDir, 'entries'))
      .map((name) => readdirSync(join(weightsDir, 'entries', name)))
      .every((files) => files.includes('.llmservice-manifest.json')),
  );
  await first.stop();

  const second = await serve('s3://models/trunk/', head, 1, { cache, dir: weightsDir });
  await second.ready();
  expect(await second.metric('llmservice_weights_cache_hits_total')).toBe(2);
  expect(await answer(second)).toEqual(wanted);
  expect(await second.metric(accepted)).toBe(drafted);
});

test('a checkpoint that has the layer keeps its own', async () => {
  const whole = await serve('s3://models/whole/', { method: 'mtp', uri: 's3://nowhere/at-all/' });
  await whole.ready();
  await answer(whole);
  expect(await whole.metric(accepted)).toBeGreaterThan(0);
  expect(pulledFolders()).toHaveLength(1);
});

test('a disk that lacks room for model and head is reported with what both need, before either is pulled', async () => {
  const model = putHuge();
  const { 'config.json': config, [holdsHead]: head } = readFiles(demoCheckpoint);
  const refused = await serve('s3://models/huge/', { method: 'mtp', uri: 's3://heads/fp8/' });
  await refused.exited();
  const neededBytes = model + config!.byteLength + head!.byteLength;
  expect(refused.terminationMessage).toMatchObject({ reason: 'WeightsDiskFull', detail: { neededBytes } });
});

test('a model without the layer is refused where no uri is given, by what would do', async () => {
  const refused = await serve('s3://models/trunk/', { method: 'mtp' });
  await refused.exited();
  expect(refused.terminationMessage).toMatchObject({
    reason: 'InvalidEngineConfig',
    message: expect.stringContaining('engine.speculative.uri') as unknown,
  });
});

test.each([
  ['an absent bucket', 's3://nowhere/fp8/', 'BucketNotFound', 'nowhere'],
  ['an empty folder', 's3://heads/empty/', 'ModelNotFound', 's3://heads/empty/'],
  ['a URI of another kind', 'https://example.org/fp8', 'InvalidEngineConfig', 'engine.speculative.uri'],
  ['a release that has none either', 's3://models/trunk/', 'InvalidEngineConfig', 'mtp.fc.weight'],
  ['another model', 's3://heads/other-model/', 'InvalidEngineConfig', 'vocab_size 77'],
  ['a missing file', 's3://heads/lacks-a-file/', 'CheckpointIncomplete', holdsHead],
  ['a folder with a GGUF file', 's3://heads/a-gguf/', 'InvalidEngineConfig', 'GGUF'],
  ['a GGUF file', 's3://heads/a-gguf/model.gguf', 'InvalidEngineConfig', 'GGUF'],
])('%s is refused before any weight of either is pulled', async (_, headUri, reason, part) => {
  await expect(obtain('s3://models/trunk/', headUri, 'mtp')).rejects.toMatchObject({
    failure: { reason, message: expect.stringContaining(part) as unknown },
  });
  expect(pulledFolders()).toEqual([]);
});

describe('a draft model', () => {
  const drafter = 's3://heads/eagle3/';
  beforeAll(() => {
    const { 'tokenizer.json': tokenizer } = readFiles(demoCheckpoint);
    const files = readFiles(`${goldenDir}drafters/qwen3-speculators`);
    s3.put('models', 'qwen3', {
      ...readFiles(`${goldenDir}models/qwen3-bf16`),
      'tokenizer.json': tokenizer!,
    });
    s3.put('heads', 'eagle3', files);
    s3.put('heads', 'draft_model', readFiles(`${goldenDir}drafters/llama-for-qwen3`));
    s3.put('heads', 'pickled', {
      'config.json': files['config.json']!,
      'pytorch_model.bin': Buffer.alloc(8),
    });
  });

  test.each(['eagle3', 'draft_model'] as const)(
    'of %s is pulled whole, in a folder of its own',
    async (method) => {
      const { dir, headDir, verified } = await obtain('s3://models/qwen3/', `s3://heads/${method}/`, method);
      await verified;
      expect(headDir).toMatch(new RegExp(`-${method}$`));
      const { shape } = await openCheckpoint(dir);
      const { tensors } = await (method === 'eagle3' ? openEagle3 : openDraftModel)(headDir!, shape);
      expect(tensors.length).toBeGreaterThan(10);
    },
  );

  test('drafts for a hybrid, and answers are those without it', async () => {
    s3.put('heads', 'demo-eagle3', lastHiddenDrafter(demoCheckpoint));
    s3.put('heads', 'demo-draft_model', layerlessModel(demoCheckpoint));
    const plain = await serve('s3://models/whole/', { method: 'none' });
    await plain.ready();
    const wanted = await answer(plain);
    await plain.stop();
    for (const method of ['eagle3', 'draft_model']) {
      rmSync(weightsDir, { recursive: true });
      const drafting = await serve('s3://models/whole/', { method, uri: `s3://heads/demo-${method}/` });
      await drafting.ready();
      expect(await answer(drafting)).toEqual(wanted);
      // Again, with the prompt from the cache.
      expect(await answer(drafting)).toEqual(wanted);
      expect(await drafting.metric('vllm:spec_decode_num_draft_tokens_total')).toBeGreaterThan(0);
      await drafting.stop();
    }
  });

  test.each([
    [
      'of another model',
      's3://models/trunk/',
      drafter,
      'InvalidEngineConfig',
      'hidden_size 96 where the model has',
    ],
    [
      'as pickles',
      's3://models/qwen3/',
      's3://heads/pickled/',
      'CheckpointIncomplete',
      'convert it to safetensors',
    ],
    [
      'that is a model',
      's3://models/qwen3/',
      's3://models/qwen3/',
      'InvalidEngineConfig',
      'no EAGLE-3 draft model',
    ],
  ])('%s is refused before any weight of either is pulled', async (_, uri, headUri, reason, part) => {
    await expect(obtain(uri, headUri, 'eagle3')).rejects.toMatchObject({
      failure: { reason, message: expect.stringContaining(part) as unknown },
    });
    expect(pulledFolders()).toEqual([]);
  });
});

function obtain(uri: string, headUri: string, method: HeadMethod): Promise<ObtainedCheckpoint> {
  weightsDir = mkdtempSync(join(tmpdir(), 'llmservice-paired-'));
  return obtainCheckpoint({
    uri,
    head: { uri: headUri, method },
    pins: { model: null, head: null },
    cache: null,
    weightsDir,
    stores: {
      s3: {
        endpoint: s3.endpoint,
        region: 'us-east-1',
        forcePathStyle: true,
        credentials: s3Keys,
        caCertificates: [],
      },
      ...nobodys,
    },
    allowedUris: [],
    observer: deafObserver,
    sleep: () => Promise.resolve(),
    signal: new AbortController().signal,
  });
}

const ignore = (): undefined => undefined;
const deafObserver = {
  begin: ignore,
  received: ignore,
  alive: ignore,
  elsewhere: ignore,
  unavailable: ignore,
  available: ignore,
};
