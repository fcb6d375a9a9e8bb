// Checkpoints of a tenant that no reader should survive, beside a neighbour whose service must be looked at as ever. The
// operator is the process that runs in a pod; the API server and the S3 server are real.

import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LlmServiceStatus } from '@llmservice/crds';
import { objectPath, resources } from '../../operator/src/kube/resources.js';
import { llamaCheckpoint } from '../builders/checkpoint.js';
import { llmService } from '../builders/llm-service.js';
import { OperatorProcess } from '../integration/operator-process.js';
import { World } from '../integration/operator-world.js';
import { eventually } from '../processes.js';

jest.setTimeout(300_000);

const mib = 2 ** 20;
const tenant = 'attacker';
const oneGi = { resources: { limits: { memory: '1Gi' } } };

/** A weight file whose header begins so and goes on with the unit. */
function weights(headerBytes: number, begin: string, unit: string, end = ''): Buffer {
  const file = Buffer.alloc(8 + headerBytes, unit);
  file.writeBigUInt64LE(BigInt(headerBytes));
  file.write(begin, 8);
  file.write(end, file.length - end.length);
  return file;
}

function text(bytes: number, begin: string, unit: string): Buffer {
  const file = Buffer.alloc(bytes, unit);
  file.write(begin);
  return file;
}

/** 300,000 tensors, as only the largest models have, and one more that lies where another does. */
function manyTensors(): Buffer {
  const entry = (i: number, at: number): string =>
    `"model.layers.${i}.mlp.experts.gate_proj.weight":{"dtype":"U8","shape":[1],"data_offsets":[${at},${at + 1}]}`;
  const entries = Array.from({ length: 300_000 }, (_, i) => entry(i, i));
  const header = Buffer.from(`{${entries.join(',')},${entry(300_001, 5)}}`);
  return Buffer.concat([weights(header.length, '', ' ').subarray(0, 8), header, Buffer.alloc(300_001)]);
}

const single = (file: Uint8Array): Record<string, string | Uint8Array> => ({
  'config.json': String(llamaCheckpoint()['config.json']),
  'tokenizer.json': '{}',
  'model.safetensors': file,
});

function gguf(): Buffer {
  const file = Buffer.alloc(8 * mib);
  file.write('GGUF');
  file.writeUInt32LE(3, 4);
  file.writeBigUInt64LE(2n ** 63n, 8);
  file.writeBigUInt64LE(2n ** 63n, 16);
  return file;
}

const hostile: Record<string, Record<string, string | Uint8Array>> = {
  'arrays-31': single(weights(31 * mib, '{"a":', '[],')),
  'arrays-64': single(weights(64 * mib, '', '[],')),
  'nested-64': single(weights(64 * mib, '{"a":{"shape":', '[')),
  'blanks-64': single(weights(64 * mib, '{', ' ')),
  'metadata-64': single(weights(64 * mib, '{"__metadata__":{"a":"', 'x')),
  'many-tensors': single(manyTensors()),
  'index-31': {
    ...llamaCheckpoint(),
    'model.safetensors.index.json': text(31 * mib, '{"metadata":', '[],'),
  },
  'index-64': {
    ...llamaCheckpoint(),
    'model.safetensors.index.json': text(64 * mib, '{"weight_map":{', '{'),
  },
  'config-4': { ...llamaCheckpoint(), 'config.json': text(4 * mib, '{"a":[', '[],') },
  'config-deep': { ...llamaCheckpoint(), 'config.json': text(mib, '{"a":', '[') },
  'config-31': { ...llamaCheckpoint(), 'config.json': text(31 * mib, '{"a":[', '[],') },
  gguf: { 'model.gguf': gguf() },
};

let world: World;
let operator: OperatorProcess;

beforeAll(async () => {
  world = await World.start();
  world.s3.put('models', 'llama', llamaCheckpoint());
  for (const [name, files] of Object.entries(hostile)) world.s3.put('models', name, files);
  await world.makeNamespace(tenant);
  await world.makeCredentials(tenant);
  operator = OperatorProcess.start(world.api, 'operator');
  await world.createService('neighbour', { model: world.model('models/llama/'), ...oneGi });
  await world.deployment('neighbour');
}, 180_000);

afterAll(async () => {
  await operator.stop();
  await world.stop();
});

const statusOf = async (name: string): Promise<LlmServiceStatus> => {
  const path = objectPath(resources.llmServices, tenant, name);
  return (await world.api.admin.get<{ status?: LlmServiceStatus }>(path)).status ?? {};
};

/** How long the operator takes from an edit of the neighbour to its Deployment. */
async function reconcileMs(replicas: number): Promise<number> {
  const startedAt = performance.now();
  await world.patch(resources.llmServices, 'neighbour', { spec: { replicas } });
  while ((await world.deployment('neighbour')).spec?.replicas !== replicas) await sleep(5);
  return performance.now() - startedAt;
}

test('hostile checkpoints are refused each by its condition, and the neighbour is reconciled meanwhile', async () => {
  const alone = [await reconcileMs(2), await reconcileMs(1)];
  for (const name of Object.keys(hostile)) {
    await world.create(
      llmService(name, { model: world.model(`models/${name}/`), ...oneGi }, { namespace: tenant }),
    );
  }
  const told = new Map<string, string>();
  const latencies: number[] = [];
  await eventually(
    'all conditions',
    async () => {
      latencies.push(await reconcileMs(2), await reconcileMs(1));
      for (const name of Object.keys(hostile)) {
        const resolved = (await statusOf(name)).conditions?.find(({ type }) => type === 'ModelResolved');
        if (resolved?.status === 'False') told.set(name, `${resolved.reason}: ${resolved.message}`);
      }
      const missing = Object.keys(hostile).filter((name) => !told.has(name));
      if (missing.length > 0) throw new Error(`no condition of ${missing.join()}`);
      return true;
    },
    240_000,
  );
  const sorted = latencies.sort((a, b) => a - b);
  process.stderr.write(
    `reconciles of the neighbour: ${sorted.length}, alone ${alone.map(Math.round).join(' and ')} ms, beside the attack ` +
      `median ${Math.round(sorted[sorted.length >> 1] ?? 0)} ms, largest ${Math.round(sorted.at(-1) ?? 0)} ms\n` +
      [...told].map(([name, words]) => `${name}: ${words.slice(0, 160)}\n`).join(''),
  );
  for (const words of told.values()) expect(words).toMatch(/^Checkpoint(Corrupt|Incomplete): /);
  expect(operator.child.exitCode).toBeNull();
  expect(operator.child.signalCode).toBeNull();
  // What a standstill would be: before, it was 18 s for a quarter of one of these.
  expect(sorted.at(-1)).toBeLessThan(5_000);
});
