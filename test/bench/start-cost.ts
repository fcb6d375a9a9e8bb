// What a replica's start takes of processors, and until it serves: `llmservice serve` with the demo model, of one checkout or of
// several in turn, each built before.
// usage: tsx test/bench/start-cost.ts [ROUNDS [CHECKOUT...]]
//
// Processor seconds are those of the server and of the processes that it started, user and system, when it serves.

import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { median } from '../median.js';
import { eventually, freePort, repository, start, stop } from '../processes.js';

const ticksPerSecond = 100;

const [rounds = '5', ...checkouts] = process.argv.slice(2);
const trees = checkouts.length === 0 ? [repository] : checkouts.map((path) => resolve(path));
const folder = mkdtempSync(join(tmpdir(), 'llmservice-start-'));
const taken = new Map(trees.map((tree) => [tree, { processor: [] as number[], ready: [] as number[] }]));
try {
  for (let round = 0; round < Number(rounds); round++) {
    for (const [tree, { processor, ready }] of taken) {
      const one = await serveOnce(tree);
      processor.push(one.processor);
      ready.push(one.ready);
    }
  }
} finally {
  rmSync(folder, { recursive: true });
}
console.log(`medians of ${rounds}, in turn`);
for (const [tree, { processor, ready }] of taken) {
  const [cpu, wall] = [median(processor).toFixed(2), median(ready).toFixed(2)];
  console.log(`${tree}: ${cpu} processor seconds, serves after ${wall} s`);
}

/** In seconds. */
async function serveOnce(tree: string): Promise<{ readonly processor: number; readonly ready: number }> {
  const port = String(await freePort());
  const model = join(tree, 'deploy/demo-model/checkpoint');
  const entry = join(tree, 'runtime/dist/cli/main.js');
  const args = [entry, 'serve', '--model', model, '--name', 'demo', '--port', port];
  const startedAt = performance.now();
  const server = start(process.execPath, args, join(folder, 'log'), process.env);
  try {
    await eventually(`the server of ${tree}`, async () => {
      const { state } = (await (await fetch(`http://127.0.0.1:${port}/health`)).json()) as { state: string };
      return state === 'serving';
    });
    const ready = (performance.now() - startedAt) / 1000;
    return { processor: processorSeconds(server.pid!), ready };
  } finally {
    await stop(server);
  }
}

/** Of a process and its descendants, the ended ones that were waited for included (proc(5): utime, stime, cutime, cstime). */
function processorSeconds(ancestor: number): number {
  const processes = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
          .replace(/^.*\) /s, '')
          .split(' ');
        const ticks = fields.slice(11, 15).reduce((sum, each) => sum + Number(each), 0);
        return [{ pid: Number(pid), parent: Number(fields[1]), ticks }];
      } catch {
        return []; // it ended meanwhile
      }
    });
  const family = new Set([ancestor]);
  // Parents come before children but where pids have wrapped round: once more until nothing is added.
  for (let size = 0; size !== family.size;) {
    size = family.size;
    for (const { pid, parent } of processes) if (family.has(parent)) family.add(pid);
  }
  const ticks = processes.filter(({ pid }) => family.has(pid)).reduce((sum, each) => sum + each.ticks, 0);
  return ticks / ticksPerSecond;
}
