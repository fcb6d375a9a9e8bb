// Entry of the engine process: loads the model, then runs steps for the server process that forked it.
// It ends with its parent, on 'shutdown', or after reporting a failure; it never outlives the channel.

import { FailureError, type Failure } from '@llmservice/crds';
import {
  gpuDevices,
  keepDescriptors,
  loadEngine,
  runRank,
  type ArrivalMap,
  type Engine,
  type EngineInfo,
  type LoadProgress,
} from '@llmservice/native';
import type { Offers } from '../disaggregation/offers.js';
import { Scheduler } from '../schedule/scheduler.js';
import { AdapterLoader } from './adapter-loader.js';
import { warmUp, type WarmupReport } from '../warmup/warm-up.js';
import { warmupShapes, type WarmupLimits } from '../warmup/warmup-shapes.js';
import { cpuPromptStepMs } from './cpu-prompt-step.js';
import { cpuOf, gpuOf, sysfsUnder, type EngineDevice } from './engine-device.js';
import { EngineTransfer } from './engine-transfer.js';
import { failureOf } from './failure-of.js';
import { grammarsOf, readTokenizerFiles, startCompileProcesses } from './grammars.js';
import { watchGroup } from './group-watch.js';
import { Intake } from './intake.js';
import { nodePlace } from './node-place.js';
import { planEngine } from './plan-engine.js';
import type { EngineAdapter, EngineMessage, EngineSettings, ServerMessage } from './protocol.js';
import { RankProcesses } from './rank-processes.js';
import { makeTransfers } from './transfers.js';
import { StepLoop } from './step-loop.js';

const heartbeatMs = 1000;
let loop: StepLoop | null = null;
let intake: Intake | null = null;
let loader: AdapterLoader | null = null;
let offers: Offers | null = null;

function send(message: EngineMessage): void {
  // A closed channel means that the parent is gone; 'disconnect' ends this process.
  if (process.connected) process.send?.(message);
}

const progress: LoadProgress = (bytesDone, bytesTotal) => send({ type: 'progress', bytesDone, bytesTotal });

/** Steps come from this process's scheduler, or, on nodes other than the first, from rank 0. */
async function serve(
  settings: EngineSettings,
  arrivals: ArrivalMap | null,
  adapters: readonly EngineAdapter[],
): Promise<void> {
  const options = await planEngine(settings);
  const nodes = await nodePlace(settings, options);
  const size = settings.tensor * settings.pipeline;
  const stages = settings.pipeline === 1 ? null : settings.pipeline;
  const ranks =
    size === 1
      ? null
      : new RankProcesses(options, { size, stages, nodes }, fail, arrivals, settings.openFiles);
  const watch = ranks === null || nodes === null ? null : watchGroup(ranks, send);
  if (ranks !== null && nodes !== null && nodes.index > 0) {
    await runRank(ranks.options, progress, arrivals);
    ranks.closing();
    process.send?.({ type: 'ended' } satisfies EngineMessage, () => process.exit(0));
    return;
  }
  // Weights that this process was given are not for those that compile.
  keepDescriptors();
  const compileProcesses = startCompileProcesses();
  const [engine, files] = await Promise.all([
    loadEngine(ranks?.options ?? options, progress, arrivals),
    readTokenizerFiles(settings.modelDir),
  ]);
  watch?.end();
  ranks?.joined();
  loader = new AdapterLoader(engine, settings);
  for (const adapter of adapters) await loader.load(adapter);
  const { numBlocks, hybrid, bidirectional } = engine.info;
  const limits = { ...options, numBlocks, hybrid, bidirectional };
  const warmup = await warmUpEngine(engine, settings, limits);
  const { prefixCaching } = settings;
  const pace = settings.accelerator === 'cpu' ? { promptStepMs: cpuPromptStepMs } : {};
  const scheduler = new Scheduler({ ...limits, ...pace, prefixCaching });
  const now = (): number => performance.now();
  const transfer = settings.disaggregation === null ? null : new EngineTransfer(engine);
  const transfers = makeTransfers({ settings, transfer, scheduler, loop: () => loop, now });
  ({ offers } = transfers);
  loop = new StepLoop(engine, scheduler, send, now, transfers.counts, offers);
  const grammars = grammarsOf(files, engine.info.vocabSize, compileProcesses);
  intake = new Intake(loop, grammars, now, transfers.remote);
  send({
    type: 'ready',
    info: engine.info,
    device: deviceOf(settings.accelerator, engine.info),
    plannedBlocks: options.memory?.plannedBlocks ?? options.numBlocks,
    maxModelLen: options.maxModelLen,
    warmup,
  });
  await loop.run();
  ranks?.closing();
  await engine.dispose();
  process.exit(0);
}

/** Rank 0's, and so the kind of all. @throws FailureError DeviceUnavailable */
function deviceOf(accelerator: EngineSettings['accelerator'], info: EngineInfo): EngineDevice {
  if (accelerator === 'cpu') return cpuOf(info);
  const { devices, problem } = gpuDevices(accelerator);
  const [first] = devices;
  if (first === undefined) throw new FailureError('DeviceUnavailable', problem ?? 'the device is gone');
  return gpuOf(accelerator, first, sysfsUnder(''));
}

function warmUpEngine(
  engine: Engine,
  { warmup, accelerator }: EngineSettings,
  limits: WarmupLimits,
): Promise<WarmupReport> {
  return warmUp(engine, warmupShapes(warmup, accelerator !== 'cpu', limits), limits, {
    timeLimitSeconds: warmup.timeLimitSeconds,
    now: () => performance.now(),
    onProgress: (done, total) => send({ type: 'warmup', done, total }),
  });
}

function fail(failure: Failure): void {
  const message: EngineMessage = { type: 'failed', failure };
  // Leaves only once the parent has the reason, and then at once: an exit would wait for a step that may never end.
  if (process.connected) process.send?.(message, () => process.kill(process.pid, 'SIGKILL'));
}

process.on('message', (message: ServerMessage) => {
  switch (message.type) {
    case 'start':
      serve(message.settings, message.arrivals, message.adapters).catch((error: unknown) =>
        fail(failureOf(error)),
      );
      return;
    case 'submit':
      offers?.expect(message.request);
      intake?.submit(message.request);
      return;
    case 'cancel':
      intake?.cancel(message.id);
      offers?.withdraw(message.id).catch((error: unknown) => fail(failureOf(error)));
      return;
    case 'flushCache':
      loop?.flushCache();
      return;
    case 'loadAdapter': {
      const { number } = message.adapter;
      const ended = (failure: Failure | null): void => send({ type: 'adapter', number, failure });
      loader?.load(message.adapter).then(
        () => ended(null),
        (error: unknown) => ended(failureOf(error)),
      );
      return;
    }
    case 'unloadAdapter':
      loader?.unload(message.number).catch((error: unknown) => fail(failureOf(error)));
      return;
    case 'shutdown':
      if (loop === null) process.exit(0);
      loop.stop();
  }
});
// Nobody is left to report to, and a native step may be running: end at once, so that no orphan keeps memory or device.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
// A terminal's Ctrl-C goes to the whole process group; the server decides when this process ends.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => undefined);
setInterval(() => {
  send({ type: 'heartbeat', stepAgeMs: loop?.stepAgeMs ?? null });
  offers?.expire();
}, heartbeatMs);
