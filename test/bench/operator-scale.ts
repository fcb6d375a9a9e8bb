// 1,000 services on 300 nodes, 50 of them canaries, 50 behind InferencePools and 50 of a class, and 5 gateways of models, on a
// real API server with scheduler and controllers: how long until all are Ready, how many requests each costs, what the operator's process
// holds; what a restart over converged objects, canaries under way among them, and idle minutes write.
// usage: tsx test/bench/operator-scale.ts [SERVICES] [NODES] [IDLE_SECONDS] [CANARIES] [POOLS] [GATEWAYS] [CLASSED]

import type { ChildProcess } from 'node:child_process';
import { readFileSync, writeFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { llamaCheckpoint } from '../builders/checkpoint.js';
import { FakeNodes } from '../integration/fake-nodes.js';
import { World } from '../integration/operator-world.js';
import { eventually, freePort, start, stop } from '../processes.js';
import { MixedFleet } from './operator-scale/mixed-fleet.js';

const numbers = process.argv.slice(2).map(Number);
const [services = 1000, nodes = 300, idleSeconds = 300] = numbers;
const twentieth = Math.round(services / 20);
const [, , , canaries = twentieth, pools = twentieth, gateways = 5, classed = twentieth] = numbers;
const devicesPerNode = Math.ceil((services * 1.25) / nodes);
const atOnce = 16;
const hourMs = 3_600_000;
const maxMib = 250;
const maxRequests = 18;
const root = new URL('../../', import.meta.url);
/** As the chart runs it. */
const [, flags = ''] =
  /command: \[node, (.*)operator\/dist\/main\.js\]/.exec(
    readFileSync(new URL('charts/llmservice-operator/templates/deployment.yaml', root), 'utf8'),
  ) ?? [];
const mainProgram = [
  ...flags.split(', ').filter((flag) => flag !== ''),
  fileURLToPath(new URL('operator/dist/main.js', root)),
];

interface OperatorProcess {
  readonly child: ChildProcess;
  readonly port: number;
}

const folder = mkdtempSync(join(tmpdir(), 'llmservice-scale-'));
const world = await World.start();
const fakeNodes = FakeNodes.start(world.api);
world.s3.put('models', 'llama', llamaCheckpoint());
const fleet = await MixedFleet.prepare(world, { services, canaries, pools, classed, gateways });

async function inParallel(count: number, work: (index: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let index = next++; index < count; index = next++) await work(index);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

async function startOperator(): Promise<OperatorProcess> {
  const port = await freePort();
  const kubeconfig = join(folder, 'kubeconfig');
  writeFileSync(kubeconfig, world.api.kubeConfig('operator').exportConfig(), { mode: 0o600 });
  const child = start(process.execPath, mainProgram, join(folder, 'operator.log'), {
    KUBECONFIG: kubeconfig,
    POD_NAMESPACE: 'default',
    POD_NAME: `operator-${String(port)}`,
    RUNTIME_IMAGE_ROCM: 'example.org/runtime:1',
    ALLOW_ENDPOINT: '127.0.0.1',
    ...fleet.environment,
    PORT: String(port),
  });
  return { child, port };
}

/** Values of a metric of the operator, by its labels. */
async function metric({ port }: OperatorProcess, name: string): Promise<Map<string, number>> {
  const text = await (await fetch(`http://127.0.0.1:${String(port)}/metrics`)).text();
  const lines = text.split('\n').filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
  return new Map(
    lines.map((line) => {
      const end = line.lastIndexOf(' ');
      return [line.slice(name.length, end), Number(line.slice(end + 1))];
    }),
  );
}

/** Requests so far: all, and those that write, but for the lease. */
async function requests(operator: OperatorProcess): Promise<{ all: number; writes: number }> {
  const counts = [...(await metric(operator, 'llmservice_operator_api_requests_total'))];
  const own = counts.filter(([labels]) => !labels.includes('resource="leases"'));
  const sum = (some: typeof own): number => some.reduce((total, [, count]) => total + count, 0);
  return { all: sum(own), writes: sum(own.filter(([labels]) => !labels.includes('method="GET"'))) };
}

/** Which requests these were, the most frequent first. */
async function reportRequests(operator: OperatorProcess): Promise<void> {
  const counts = [...(await metric(operator, 'llmservice_operator_api_requests_total'))];
  for (const [labels, count] of counts.sort(([, a], [, b]) => b - a).slice(0, 24))
    console.log(`  ${String(count)} ${labels}`);
}

/** MiB: now, and the most so far. */
function resident({ child }: OperatorProcess): { now: number; most: number } {
  const status = readFileSync(`/proc/${String(child.pid)}/status`, 'utf8');
  const read = (field: string): number => Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1]) / 1024;
  return { now: read('VmRSS'), most: read('VmHWM') };
}

/** Until as many as are wanted are so. */
async function all(
  { child }: OperatorProcess,
  what: string,
  wanted: number,
  count: () => Promise<number>,
): Promise<void> {
  const sinceMs = Date.now();
  for (;;) {
    // On a machine so busy that it loses its lease there is nothing to measure.
    if (child.exitCode !== null)
      throw new Error(
        `the operator ended: ${readFileSync(join(folder, 'operator.log'), 'utf8').slice(-500)}`,
      );
    const found = await count();
    const seconds = ((Date.now() - sinceMs) / 1000).toFixed(0);
    console.log(`${seconds} s: ${String(found)} of ${String(wanted)} ${what}`);
    if (found === wanted) return;
    if (Date.now() - sinceMs > hourMs) throw new Error('gave up after an hour');
    await sleep(5_000);
  }
}

/** Until no reconcile has been made for a while. */
async function settled(operator: OperatorProcess): Promise<void> {
  let before = -1;
  for (;;) {
    const counts = await metric(operator, 'llmservice_operator_reconcile_total');
    const now = [...counts.values()].reduce((sum, count) => sum + count, 0);
    if (now > 0 && now === before) return;
    before = now;
    await sleep(5_000);
  }
}

try {
  await inParallel(nodes, (index) => fakeNodes.add(`node-${String(index)}`, 'all', devicesPerNode));
  const model = world.model('models/llama/');
  const accelerator = { resourceName: 'amd.com/gpu', devices: 1, memoryPerDevice: '8Gi' };
  await fleet.createClass({ accelerator });
  await inParallel(services, (index) => fleet.createService(index, model, accelerator));
  await inParallel(gateways, (index) => fleet.createGateway(index));
  console.log(`${String(services)} services made on ${String(nodes)} nodes`);

  const beganMs = Date.now();
  let operator = await startOperator();
  await all(operator, 'services Ready', services, () => fleet.servicesThat(['Ready', 'True']));
  const seconds = (Date.now() - beganMs) / 1000;
  await all(operator, 'pools', pools, () => fleet.servicesThat(['Routed', 'True', 'InferencePool']));
  await all(operator, 'classes', classed, () => fleet.servicesThat(['ClassResolved', 'True']));
  await all(operator, 'gateways Ready', gateways, () => fleet.gatewaysThat(['Ready', 'True']));
  await settled(operator);
  const first = await requests(operator);
  await reportRequests(operator);
  await inParallel(canaries, (index) => fleet.changeCanary(index));
  await all(operator, 'canaries', canaries, () => fleet.servicesThat(['CanaryPassing', 'True', 'Paused']));
  await settled(operator);
  const tried = await requests(operator);
  const afterFirst = resident(operator);
  await stop(operator.child, 'SIGTERM');

  const restartedMs = Date.now();
  operator = await startOperator();
  const of = operator;
  await eventually('its metrics', () => requests(of), 60_000);
  await settled(operator);
  const restartSeconds = (Date.now() - restartedMs) / 1000;
  const second = await requests(operator);
  await sleep(idleSeconds * 1000);
  const idle = await requests(operator);
  const afterIdle = resident(operator);
  await stop(operator.child, 'SIGTERM');

  const most = Math.max(afterFirst.most, afterIdle.most);
  const restartWrites = second.writes;
  const idleWrites = idle.writes - second.writes;
  console.log('| what | figure |\n|---|---|');
  const rows: readonly (readonly [string, string])[] = [
    [`from cold to ${String(services)} Ready`, `${seconds.toFixed(0)} s`],
    ['requests per service', (first.all / services).toFixed(1)],
    ['of these writes', (first.writes / services).toFixed(1)],
    ['requests per canary', ((tried.all - first.all) / Math.max(1, canaries)).toFixed(1)],
    ['resident, converged', `${afterFirst.now.toFixed(0)} MiB`],
    ['restart to rest', `${restartSeconds.toFixed(0)} s`],
    ['requests of a restart', String(second.all)],
    ['writes of a restart', String(restartWrites)],
    [`writes in ${String(idleSeconds)} idle seconds`, String(idleWrites)],
    ['requests in them', String(idle.all - second.all)],
    ['resident after them', `${afterIdle.now.toFixed(0)} MiB`],
    ['most resident', `${most.toFixed(0)} MiB`],
  ];
  for (const [what, figure] of rows) console.log(`| ${what} | ${figure} |`);
  const isFrugal = most < maxMib && first.all / services <= maxRequests;
  const isWell = isFrugal && restartWrites === 0 && idleWrites === 0;
  const bars = `${String(maxRequests)} requests a service, ${String(maxMib)} MiB and nothing written at rest`;
  console.log(`${isWell ? 'within' : 'NOT within'} ${bars}`);
  process.exitCode = isWell ? 0 : 1;
} finally {
  fleet.stop();
  await fakeNodes.stop();
  await world.stop();
  rmSync(folder, { recursive: true, force: true });
}
