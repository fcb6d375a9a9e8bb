// What all processes of a replica on the CPU take, as the kernel reports it, against the memory plan: at rest, and with a long
// text and a grammar at work.

import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { planMemory, residentWeights } from '@llmservice/checkpoint';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { openCheckpoint } from '@llmservice/checkpoint/local';
import { processTree } from '../process-tree.js';
import { demoCheckpoint, ReplicaProcess } from './replica-process.js';

jest.setTimeout(180_000);

let replica: ReplicaProcess;
beforeAll(async () => {
  replica = await ReplicaProcess.start({ uri: demoCheckpoint });
  await replica.ready();
});
afterAll(() => replica.stop());

/** Written pages, those that several processes share counted once. */
function anonymousBytes(): number {
  const kib = processTree(replica.child.pid!).map((pid) => {
    try {
      const text = readFileSync(`/proc/${String(pid)}/smaps_rollup`, 'utf8');
      return Number(/^Pss_Anon:\s+(\d+) kB$/m.exec(text)?.[1]);
    } catch {
      // It has ended.
      return 0;
    }
  });
  return kib.reduce((sum, each) => sum + each, 0) * 1024;
}

/** As ReplicaProcess starts it. */
async function plannedBytes(): Promise<number> {
  const { shape, tensors } = await openCheckpoint(demoCheckpoint);
  const way = { dtype: 'auto', speculative: { method: 'none', tokens: 3 } } as const;
  const { rows } = planMemory({
    ...way,
    shape,
    accelerator: 'cpu',
    weights: residentWeights(tensors, shape, { ...way, quantization: 'none' }),
    memoryBytes: 2 ** 30,
    memoryUtilizationPercent: 85,
    tensor: 1,
    maxModelLen: 1024,
    maxNumSeqs: 32,
    maxNumBatchedTokens: 512,
    blockSize: 64,
    prefixCaching: true,
    kvCacheDtype: 'auto',
  });
  return rows.reduce((sum, { name, bytes }) => (name === 'free' ? sum : sum + bytes), 0);
}

test('all processes together take no more than was planned, with a text and a grammar at work', async () => {
  const planned = await plannedBytes();
  const atRest = anonymousBytes();
  const schema = { type: 'object', properties: { a: { type: 'string', minLength: 100, maxLength: 2000 } } };
  const work = Promise.all([
    replica.post('/v1/completions', { prompt: 'hello '.repeat(150_000), truncate_prompt_tokens: 10 }),
    replica.post('/v1/completions', { prompt: 'a', guided_json: schema, max_tokens: 4 }),
  ]);
  const over = work.then(() => true);
  let most = atRest;
  do most = Math.max(most, anonymousBytes());
  while (!(await Promise.race([over, sleep(50, false)])));
  for (const { status } of await work) expect(status).toBe(200);
  process.stdout.write(
    `planned ${String(planned)}, at rest ${String(atRest)}, at work ${String(most)} bytes\n`,
  );
  expect(most).toBeLessThanOrEqual(planned);
});
