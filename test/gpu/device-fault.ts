// A kernel writes where there is no memory while streams run: every client hears of it, the engine is rebuilt, and the
// server answers again within 30 s of the fault. Exit status 1 where that does not hold.
// usage: device-fault.ts RUNTIME MODEL ADDON FAULT_MODULE cuda|hip|emulator; FAULT_MODULE: device_fault_VENDOR.node
// (native/test/gpu/device_fault.cc)

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { argv } from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';

import { faultyAddonVariable } from '../integration/faulty-addon-variable.js';
import { promptOf, ServedModel } from './served-model.js';

const [runtime, model, addon, faultModule, vendor] = argv.slice(2);
if (runtime === undefined || model === undefined || addon === undefined || faultModule === undefined)
  throw new Error('usage: device-fault.ts RUNTIME MODEL ADDON FAULT_MODULE cuda|hip|emulator');
const barMs = 30_000;
const streams = 4;
/** Below the byte tokenizer's and the tiny model's. */
const vocab = 200;

const folder = mkdtempSync(join(tmpdir(), 'llmservice-fault-'));
const order = join(folder, 'order');
// The emulator is for tests alone: no setting names it. The plan for a GPU keeps a GiB back for what the driver takes.
const emulated = vendor === 'emulator';
const server = await ServedModel.start(
  runtime,
  model,
  [
    ...[
      '--accelerator',
      emulated ? 'cpu' : (vendor ?? 'cuda'),
      '--memory-bytes',
      String(2 ** (emulated ? 30 : 33)),
    ],
    ...['--max-num-seqs', String(streams), '--max-model-len', '512', '--max-num-batched-tokens', '128'],
  ],
  faultyAddonVariable(folder, {
    FAULTY_ADDON_REAL: resolve(addon),
    FAULTY_ADDON_ORDER: order,
    FAULTY_ADDON_MODULE: resolve(faultModule),
    ...(emulated ? { FAULTY_ADDON_DEVICE: 'emulator' } : {}),
  }),
);
try {
  await server.serving(120_000);
  const before = await server.ask(promptOf(10, vocab, 0), 3);
  if (!before.isComplete) throw new Error(`it does not serve: ${String(before.status)} ${server.log}`);

  let running = 0;
  let allRun = (): void => undefined;
  const under = new Promise<void>((resolve) => (allRun = resolve));
  const asked = Array.from({ length: streams }, (_, i) => {
    let events = 0;
    return server.ask(promptOf(20, vocab, i), 480, () => {
      if (++events === 5 && ++running === streams) allRun();
    });
  });
  await Promise.race([under, sleep(barMs)]);
  writeFileSync(order, 'address');
  const faultAt = performance.now();
  const since = (): string => `${((performance.now() - faultAt) / 1000).toFixed(1)} s after the fault`;
  const hung = sleep(barMs).then(() => null);
  const ended = await Promise.race([Promise.all(asked), hung]);
  if (ended === null) throw new Error(`a client still waits, ${since()}: ${server.log}`);
  const whole = ended.filter(({ isComplete }) => isComplete).length;
  if (whole > 0) throw new Error(`${String(whole)} answers ended as if nothing had been: no fault was met`);
  if (!server.log.includes('DeviceFault')) throw new Error(`the log does not name the fault: ${server.log}`);
  console.log(`all ${String(streams)} clients heard of the fault, the last ${since()}`);

  let answers = false;
  while (!answers && performance.now() - faultAt < barMs) {
    const again = await server.ask(promptOf(10, vocab, 0), 3);
    answers = again.isComplete;
    if (!answers) await sleep(200);
  }
  if (!answers) throw new Error(`it does not serve again: ${server.log}`);
  console.log(`it serves again, ${since()}`);
} finally {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}
