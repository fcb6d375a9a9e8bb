// Minutes of full load with clients that disconnect, send garbage, read slowly, stop halfway and send 64 MB: is memory
// flat, is nothing left, do the sums agree? usage: tsx test/bench/soak.ts MINUTES [SEED]

import { LoadReplica } from '../load/load-replica.js';
import { requireOpenFiles } from '../load/server-watch.js';
import { soak } from '../load/soak.js';
import { median } from '../median.js';

const [minutes = 10, seed = Date.now() % 1_000_000] = process.argv.slice(2).map(Number);
/** Share of the time that is warm-up: heaps and caches find their size. */
const warmUp = 0.3;
const tolerance = 0.05;
const mib = 2 ** 20;

requireOpenFiles(200);
console.log(
  `seed ${String(seed)}: tsx test/bench/soak.ts ${String(minutes)} ${String(seed)} does the same again`,
);
const replica = await LoadReplica.start({ maxNumSeqs: 32, maxWaiting: 64, threads: null });
try {
  const result = await soak(replica, { seconds: minutes * 60, seed, goodWorkers: 32, badWorkers: 24 });
  const { seen, errors, counts, residentBytes } = result;
  const faults = await replica.faultsAfterLoad(seen);
  const warm = residentBytes.slice(Math.floor(residentBytes.length * warmUp));
  const third = Math.ceil(warm.length / 3);
  const [first, last] = [median(warm.slice(0, third)), median(warm.slice(-third))];
  const growth = last / first - 1;
  const isWell = errors.length === 0 && faults.length === 0 && Math.abs(growth) <= tolerance;
  const tokens = seen.reduce((sum, each) => sum + each.tokens, 0);
  console.log('| clients | how many came |\n|---|---|');
  for (const [name, count] of counts) console.log(`| ${name} | ${String(count)} |`);
  console.log('\n| minutes | answers | tokens seen | MiB after warm-up | MiB at the end | growth | faults |');
  console.log('|---|---|---|---|---|---|---|');
  const cells = [
    minutes,
    seen.length,
    tokens,
    (first / mib).toFixed(1),
    (last / mib).toFixed(1),
    `${(growth * 100).toFixed(1)} %`,
    errors.length + faults.length,
  ];
  console.log(`| ${cells.join(' | ')} |`);
  for (const fault of [...errors.slice(0, 20), ...faults]) console.log(`fault: ${fault}`);
  console.log(
    isWell ? 'flat within 5 %, nothing left, sums equal' : 'NOT flat within 5 %, nothing left, sums equal',
  );
  process.exitCode = isWell ? 0 : 1;
} finally {
  await replica.stop();
}
