// All attacks at once from 30 clients alongside 8 honest streams: do these lose a token or wait, do the processes stay within
// their memory, is anything left behind? usage: tsx test/bench/attacks.ts MINUTES [SEED [ATTACKERS]]; with 0 of
// them it shows what the machine does to the streams by itself.

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { setPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Witness } from '../attacks/witness.js';
import { LoadReplica } from '../load/load-replica.js';
import { requireOpenFiles } from '../load/server-watch.js';
import { TurnWatch } from '../load/turn-watch.js';
import type { AttackersReport } from './attackers.js';
import { IdleThread } from './idle-thread.js';

const [minutes = 10, seed = Date.now() % 1_000_000, attackers = 30] = process.argv.slice(2).map(Number);
const honest = 8;
/** What an attack may add to the time between two tokens of an honest stream. */
const maxGapMs = 250;
/** Attackers come from machines of their own: on this one they get what the server and the honest clients leave. */
const attackersNiceness = 10;
const mib = 2 ** 20;
/** Resident memory that one process of a kind may hold: a server with all bodies, a text process with its share of 24 GiB. */
const maxMiB: Readonly<Record<string, number>> = {
  'main.js': 1_280,
  'engine-process.js': 384,
  'text-process.js': 2_304,
  'launcher-process.js': 320,
  'grammar-process.js': 512,
};

requireOpenFiles(4000);
console.log(
  `seed ${String(seed)}: tsx test/bench/attacks.ts ${String(minutes)} ${String(seed)} does the same again`,
);
const folder = mkdtempSync(join(tmpdir(), 'llmservice-attacks-'));
const turns = new TurnWatch(join(folder, 'turns'));
const replica = await LoadReplica.start({ maxNumSeqs: 32, maxWaiting: 64, threads: null, env: turns.env });
try {
  const { port } = replica;
  const witnesses = await Promise.all(Array.from({ length: honest }, () => Witness.begin({ port })));
  const idle = new IdleThread();
  const before = replica.watch.mainThread;
  const turnsBefore = turns.count;
  const durationMs = minutes * 60_000;
  const script = fileURLToPath(new URL('attackers.ts', import.meta.url));
  const child = fork(script, [port, durationMs, seed, attackers].map(String));
  if (child.pid !== undefined) setPriority(child.pid, attackersNiceness);
  const reported = once(child, 'message') as Promise<[AttackersReport]>;
  const highest = new Map<string, number>();
  const end = performance.now() + durationMs;
  while (performance.now() < end && replica.isRunning) {
    await sleep(1000);
    for (const [script, bytes] of replica.residentByScript) {
      highest.set(script, Math.max(highest.get(script) ?? 0, bytes));
    }
  }
  const [[{ counts, errors }]] = await Promise.all([reported, ...witnesses.map((witness) => witness.end())]);
  const gap = Math.max(...witnesses.map((witness) => witness.maxGapMs));
  const first = Math.max(...witnesses.map((witness) => witness.maxFirstTokenMs));
  const after = replica.watch.mainThread;
  await idle.stop();
  const faults = [...witnesses.flatMap((witness) => witness.faults), ...(await replica.faultsAfterLoad([]))];
  console.log('| attack | how many |\n|---|---|');
  for (const [name, count] of counts) console.log(`| ${name} | ${String(count)} |`);
  console.log('\n| process | highest MiB | bound |\n|---|---|---|');
  for (const [script, bytes] of highest) {
    const bound = maxMiB[script] ?? 0;
    console.log(`| ${script} | ${(bytes / mib).toFixed(0)} | ${String(bound)} |`);
    if (bytes > bound * mib) faults.push(`${script} held ${(bytes / mib).toFixed(0)} MiB`);
  }
  const streams = witnesses.reduce((sum, witness) => sum + witness.streams, 0);
  console.log(
    `\n${String(streams)} honest streams, largest gap ${gap.toFixed(0)} ms, longest wait for a first token ${first.toFixed(0)} ms`,
  );
  const seconds = (ms: number): string => (ms / 1000).toFixed(1);
  console.log(
    `a thread that only waits was late by at most ${idle.maxGapMs.toFixed(0)} ms; the server's ran for ` +
      `${seconds(after.ranMs - before.ranMs)} s and waited ${seconds(after.waitedMs - before.waitedMs)} s for a core, ` +
      `and computed for at most ${String(turns.longestMs(turnsBefore))} ms at a stretch, ${String(turns.countOver(100, turnsBefore))} times for more than 100 ms`,
  );
  for (const fault of faults) console.log(`fault: ${fault}`);
  for (const [error, count] of errors) console.log(`wrong answer, ${String(count)} times: ${error}`);
  const isWell = faults.length === 0 && errors.length === 0 && gap <= maxGapMs;
  console.log(
    isWell ? 'nobody else was harmed' : `NOT: nobody else was harmed, gaps of at most ${String(maxGapMs)} ms`,
  );
  process.exitCode = isWell ? 0 : 1;
} finally {
  await replica.stop();
  rmSync(folder, { recursive: true });
}
