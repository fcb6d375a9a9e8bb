// A model that is loaded and unloaded again and again leaves nothing behind: no memory, descriptor, thread or process.
// Each loop runs in a process of its own, which nothing else makes grow.

import { expect, jest, test } from '@jest/globals';
import type { EngineOptions } from '@llmservice/native';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { plainOptions } from '../../native/ts/engine-options.fixture.js';
import { readFiles } from '../builders/files.js';
import { modelsDir } from '../golden/golden-values.js';
import { runModule } from '../own-process.js';
import { freePort } from '../processes.js';
import { demoCheckpoint, replicaEnvironment } from './replica-process.js';
import { S3Server, s3Environment } from './s3-server.js';

jest.setTimeout(300_000);

const root = fileURLToPath(new URL('../..', import.meta.url));

interface Sample {
  readonly rssKiB: number;
  readonly threads: number;
  readonly descriptors: number;
  readonly children: number;
  readonly sharedBytes: number;
}

/** Runs `loads` rounds of `round` (statements that may await) after `setUp`, and measures the process 50 times. */
async function samplesOf(setUp: string, round: string, loads: number): Promise<Sample[]> {
  const script = `
    import { readdirSync, readFileSync, statfsSync } from 'node:fs';
    ${setUp}
    const every = Math.max(1, ${String(loads)} / 50);
    for (let i = 1; i <= ${String(loads)}; i++) {
      ${round}
      if (i % every >= 1) continue;
      gc();
      const figure = (name) => Number(new RegExp(name + ':\\\\s+(\\\\d+)').exec(readFileSync('/proc/self/status', 'utf8'))[1]);
      const { blocks, bfree, bsize } = statfsSync('/dev/shm');
      console.log('sample ' + JSON.stringify({
        rssKiB: figure('VmRSS'),
        threads: figure('Threads'),
        descriptors: readdirSync('/proc/self/fd').length,
        children: readFileSync('/proc/self/task/' + process.pid + '/children', 'utf8').split(' ').length - 1,
        sharedBytes: (blocks - bfree) * bsize,
      }));
    }
    process.exit(0);`;
  const text = await runModule(script);
  const lines = text.split('\n').filter((line) => line.startsWith('sample '));
  return lines.map((line) => JSON.parse(line.slice('sample '.length)) as Sample);
}

/** The least of a third of the samples: sockets, helper threads and garbage come and go. */
function least(samples: readonly Sample[], what: keyof Sample, third: 1 | 2): number {
  const count = Math.floor(samples.length / 3);
  return Math.min(...samples.slice(third * count, (third + 1) * count).map((sample) => sample[what]));
}

/** The largest rise within three samples of the last two thirds: V8 grows by a MiB once in hundreds of loads. What leaks is in all. */
function largestRise(samples: readonly Sample[]): number {
  const rss = samples.slice(Math.floor(samples.length / 3)).map(({ rssKiB }) => rssKiB);
  return Math.max(0, ...rss.slice(3).map((each, i) => each - rss[i]!));
}

/** From the second third to the last: caches and heaps have grown to their size by then. */
function expectFlat(samples: readonly Sample[], loads: number, kibPerLoad: number): void {
  const growth = (what: keyof Sample): number => least(samples, what, 2) - least(samples, what, 1);
  const grown = Math.max(0, growth('rssKiB') - largestRise(samples)) / (loads / 3);
  const { rssKiB } = samples.at(-1)!;
  process.stdout.write(
    `${String(loads)} loads: ${grown.toFixed(2)} KiB per load, ${String(rssKiB >> 10)} MiB\n`,
  );
  expect(samples.length).toBeGreaterThan(10);
  expect(grown).toBeLessThan(kibPerLoad);
  // A leak in every load would be eight by then.
  for (const what of ['threads', 'descriptors', 'children', 'sharedBytes'] as const)
    expect([what, Math.max(0, growth(what) - 1)]).toEqual([what, 0]);
}

const options: EngineOptions = {
  ...plainOptions,
  modelDir: `${modelsDir}qwen3_5_text-fp8-ranks`,
  blockSize: 16,
  numBlocks: 32,
  maxNumSeqs: 2,
  numStateSnapshots: 0,
  maxModelLen: 64,
  maxNumBatchedTokens: 128,
  threads: 2,
};
const engines = `
  import { closeSync } from 'node:fs';
  import { loadEngine, makeSegment, runRank } from '@llmservice/native';
  const options = ${JSON.stringify(options)};
  const nothing = () => undefined;`;

test('1000 loads and unloads of one engine', async () => {
  const round = 'await (await loadEngine(options, nothing)).dispose();';
  expectFlat(await samplesOf(engines, round, 1000), 1000, 4);
});

test('200 loads and unloads of an engine of two ranks', async () => {
  const round = `
    const segment = makeSegment(2);
    const other = runRank({ ...options, place: { rank: 1, size: 2, segment, nodes: null, stages: null } }, nothing);
    const engine = await loadEngine({ ...options, place: { rank: 0, size: 2, segment, nodes: null, stages: null } }, nothing);
    closeSync(segment);
    await engine.dispose();
    await other;`;
  expectFlat(await samplesOf(engines, round, 200), 200, 16);
});

test('36 loads and unloads of a replica, from S3 and from a folder, and of loads that are broken off', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'llmservice-load-unload-'));
  const s3 = await S3Server.start();
  try {
    s3.put('models', 'demo', readFiles(demoCheckpoint));
    const options = { uri: 's3://models/demo/', endpoint: s3.endpoint, tensor: 2 };
    const env = { ...replicaEnvironment(folder, await freePort(), options), ...s3Environment };
    const setUp = `
      import { setTimeout as sleep } from 'node:timers/promises';
      import { readConfig } from ${JSON.stringify(`${root}runtime/dist/config/read-config.js`)};
      import { Replica } from ${JSON.stringify(`${root}runtime/dist/replica.js`)};
      const quiet = { info() {}, warn() {}, error() {} };
      const replica = new Replica(readConfig(${JSON.stringify(env)}, {}), quiet);
      void replica.run();
      const state = async (wanted) => {
        while (replica.health().state !== wanted) await sleep(20);
      };
      await state('serving');`;
    const round = `
      await replica.unload();
      await state('unloaded');
      if (i % 3 === 0) {
        const begun = replica.load().then(() => 'loaded', (error) => error.name);
        await sleep(10 * (i % 24));
        await replica.unload();
        if ((await begun) !== 'AbortError') throw new Error('a load that was unloaded: ' + (await begun));
      }
      await replica.load(i % 2 === 0 ? undefined : ${JSON.stringify(demoCheckpoint)});
      await state('serving');
      // The last socket to S3 closes after the load.
      await sleep(100);`;
    expectFlat(await samplesOf(setUp, round, 36), 36, 256);
  } finally {
    await s3.stop();
    rmSync(folder, { recursive: true });
  }
});
