// All attacks at once from 30 clients beside 8 honest streams: do these lose a token or wait, do the processes stay within
// their memory, is anything left behind? usage: tsx test/bench/attacks.ts MINUTES [SEED]

import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { randomFrom } from '../../runtime/src/schedule/workload.fixture.js';
import { attacks } from '../attacks/attacks.js';
import { Witness } from '../attacks/witness.js';
import { LoadReplica } from '../load/load-replica.js';
import { requireOpenFiles } from '../load/server-watch.js';

const [minutes = 10, seed = Date.now() % 1_000_000] = process.argv.slice(2).map(Number);
const attackers = 30;
const honest = 8;
/** What an attack may add to the time between two tokens of an honest stream. */
const maxGapMs = 250;
const mib = 2 ** 20;
/** Resident memory that one process of a kind may hold: a server with all bodies, a text process with its share of 24 GiB. */
const mostMiB: Readonly<Record<string, number>> = {
  'main.js': 1_280,
  'engine-process.js': 384,
  'text-process.js': 2_304,
  'grammar-process.js': 512,
};

requireOpenFiles(4000);
console.log(
  `seed ${String(seed)}: tsx test/bench/attacks.ts ${String(minutes)} ${String(seed)} does the same again`,
);
const replica = await LoadReplica.start({ maxNumSeqs: 32, maxWaiting: 64, threads: null });
try {
  const over = new AbortController();
  setMaxListeners(0, over.signal);
  const { port } = replica;
  const witnesses = await Promise.all(Array.from({ length: honest }, () => Witness.begin({ port })));
  const counts = new Map<string, number>();
  const errors = new Map<string, number>();
  const isOver = (): boolean => over.signal.aborted;
  const attack = async (index: number): Promise<void> => {
    const random = randomFrom(seed * 1000 + index);
    while (!isOver() && replica.isRunning) {
      const chosen = attacks[random(attacks.length)];
      if (chosen === undefined) return;
      counts.set(chosen.name, (counts.get(chosen.name) ?? 0) + 1);
      try {
        await chosen.run({ port, headers: {}, random, over: over.signal });
      } catch (error) {
        // It left in the midst of its request.
        if (isOver()) return;
        const told = `${chosen.name}: ${(error as Error).message}`.slice(0, 300);
        errors.set(told, (errors.get(told) ?? 0) + 1);
      }
    }
  };
  const running = Array.from({ length: attackers }, (_, i) => attack(i));
  const highest = new Map<string, number>();
  const end = performance.now() + minutes * 60_000;
  while (performance.now() < end && replica.isRunning) {
    await sleep(1000);
    for (const [script, bytes] of replica.residentByScript) {
      highest.set(script, Math.max(highest.get(script) ?? 0, bytes));
    }
  }
  over.abort();
  await Promise.all([...running, ...witnesses.map((witness) => witness.end())]);
  const gap = Math.max(...witnesses.map((witness) => witness.maxGapMs));
  const first = Math.max(...witnesses.map((witness) => witness.maxFirstTokenMs));
  const faults = [...witnesses.flatMap((witness) => witness.faults), ...(await replica.faultsAfterLoad([]))];
  console.log('| attack | how many |\n|---|---|');
  for (const [name, count] of counts) console.log(`| ${name} | ${String(count)} |`);
  console.log('\n| process | highest MiB | bound |\n|---|---|---|');
  for (const [script, bytes] of highest) {
    const bound = mostMiB[script] ?? 0;
    console.log(`| ${script} | ${(bytes / mib).toFixed(0)} | ${String(bound)} |`);
    if (bytes > bound * mib) faults.push(`${script} held ${(bytes / mib).toFixed(0)} MiB`);
  }
  const streams = witnesses.reduce((sum, witness) => sum + witness.streams, 0);
  console.log(
    `\n${String(streams)} honest streams, largest gap ${gap.toFixed(0)} ms, longest wait for a first token ${first.toFixed(0)} ms`,
  );
  for (const fault of faults) console.log(`fault: ${fault}`);
  for (const [error, count] of errors) console.log(`wrong answer, ${String(count)} times: ${error}`);
  const isWell = faults.length === 0 && errors.size === 0 && gap <= maxGapMs;
  console.log(
    isWell ? 'nobody else was harmed' : `NOT: nobody else was harmed, gaps of at most ${String(maxGapMs)} ms`,
  );
  process.exitCode = isWell ? 0 : 1;
} finally {
  await replica.stop();
}
