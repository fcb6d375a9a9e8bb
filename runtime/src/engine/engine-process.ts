// Entry of the engine process: loads the model, then runs steps for the server process that forked it.
// It ends with its parent, on 'shutdown', or after telling a failure; it never outlives the channel.

import { FailureError, failureReasons, type Failure, type FailureReason } from '@llmservice/crds';
import { loadEngine } from '@llmservice/native';
import { Scheduler } from '../schedule/scheduler.js';
import { planEngine } from './plan-engine.js';
import type { EngineMessage, EngineSettings, ServerMessage } from './protocol.js';
import { StepLoop } from './step-loop.js';

const heartbeatMs = 1000;
let loop: StepLoop | null = null;

function send(message: EngineMessage): void {
  // A closed channel means that the parent is gone; 'disconnect' ends this process.
  if (process.connected) process.send?.(message);
}

/** The native engine's errors carry a reason of the contract; anything else is a fault of the engine. */
function failureOf(error: unknown): Failure {
  if (error instanceof FailureError) return error.failure;
  const { reason, message } = error as { reason?: unknown; message?: unknown };
  const known = failureReasons.find((each): each is FailureReason => each === reason);
  return { reason: known ?? 'EngineFault', message: typeof message === 'string' ? message : String(error) };
}

async function serve(settings: EngineSettings): Promise<void> {
  const options = await planEngine(settings);
  const engine = await loadEngine(options, (bytesDone, bytesTotal) =>
    send({ type: 'progress', bytesDone, bytesTotal }),
  );
  const { prefixCaching } = settings;
  const scheduler = new Scheduler({ ...options, prefixCaching, hybrid: engine.info.hybrid });
  loop = new StepLoop(engine, scheduler, send, () => performance.now());
  send({
    type: 'ready',
    info: engine.info,
    numBlocks: options.numBlocks,
    maxModelLen: options.maxModelLen,
  });
  await loop.run();
  await engine.dispose();
  process.exit(0);
}

function fail(error: unknown): void {
  const message: EngineMessage = { type: 'failed', failure: failureOf(error) };
  // Leaves only once the parent has the reason.
  if (process.connected) process.send?.(message, () => process.exit(1));
  else process.exit(1);
}

process.on('message', (message: ServerMessage) => {
  switch (message.type) {
    case 'start':
      serve(message.settings).catch(fail);
      return;
    case 'submit':
      loop?.submit(message.request);
      return;
    case 'cancel':
      loop?.cancel(message.id);
      return;
    case 'shutdown':
      if (loop === null) process.exit(0);
      loop.stop();
  }
});
// Nobody is left to tell, and a native step may be running: end at once, so that no orphan keeps memory or device.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
// A terminal's Ctrl-C goes to the whole process group; the server decides when this process ends.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => undefined);
setInterval(() => send({ type: 'heartbeat', stepAgeMs: loop?.stepAgeMs ?? null }), heartbeatMs);
