// 2,000 streams that wait and 256 that generate, against a replica process with the demo model: errors, how late the
// server's event loop is, memory per stream. The real engine, because what it sends is what the server works on: 256
// tokens in one message a step. usage: tsx test/bench/streams.ts [IDLE ACTIVE SECONDS]

import { setTimeout as sleep } from 'node:timers/promises';
import { LoadReplica } from '../load/load-replica.js';
import { ManyStreams, steadyBytes, untilBusy } from '../load/many-streams.js';
import { quantileBound, requireOpenFiles } from '../load/server-watch.js';

const [idle = 2000, active = 256, seconds = 30] = process.argv.slice(2).map(Number);
/** Longer than the measurement, so that next to none of the idle ones gets its turn. */
const maxTokens = 900;
const kib = 1024;

requireOpenFiles(idle + active);
// One thread of the engine: another core is left to server and clients.
const replica = await LoadReplica.start({ maxNumSeqs: active, maxWaiting: idle + active, threads: 1 });
try {
  const { watch } = replica;
  const streams = new ManyStreams(replica.port);
  streams.open(active, maxTokens);
  await untilBusy(replica, active, 0);
  // What the server keeps once it has run for a while is no stream's.
  await sleep(10_000);
  const bytesBefore = await steadyBytes(() => watch.residentBytes, 5);
  streams.open(idle, maxTokens);
  await untilBusy(replica, active, idle);
  const bytesAfter = await steadyBytes(() => watch.residentBytes, 5);
  const perStream = (bytesAfter - bytesBefore) / idle / kib;
  const [delayBefore, eventsBefore] = [await watch.eventLoopDelay(), streams.events];
  await sleep(seconds * 1000);
  const delayAfter = await watch.eventLoopDelay();
  const eventRate = (streams.events - eventsBefore) / seconds;
  await untilBusy(replica, active, idle);
  const p99 = quantileBound(delayBefore, delayAfter, 0.99) * 1000;
  const errors = [...streams.errors];
  const faults = await replica.faultsAfterLoad(await streams.leave());
  const isWell = errors.length === 0 && faults.length === 0 && p99 <= 50 && perStream < 64;
  console.log(
    '| waiting | generating | seconds | events/s | event-loop delay p99 ms | KiB per stream | errors |',
  );
  console.log('|---|---|---|---|---|---|---|');
  const cells = [
    idle,
    active,
    seconds,
    Math.round(eventRate),
    `≤ ${String(p99)}`,
    perStream.toFixed(1),
    errors.length,
  ];
  console.log(`| ${cells.join(' | ')} |`);
  for (const fault of [...errors.slice(0, 10), ...faults]) console.log(`fault: ${fault}`);
  console.log(
    isWell
      ? 'within the bars: p99 50 ms, 64 KiB, no error'
      : 'NOT within the bars: p99 50 ms, 64 KiB, no error',
  );
  process.exitCode = isWell ? 0 : 1;
} finally {
  await replica.stop();
}
