// The engine without a server, in a process of its own: what its parent asks, one after the other, and how long each
// request took to its first token, in milliseconds. Messages: { prompt, count, pauseMs } there, times back.
// Argument: the folder of the checkpoint.

import { setTimeout as sleep } from 'node:timers/promises';
import { loadEngine } from '@llmservice/native';
import { planEngine } from '../../runtime/src/engine/plan-engine.js';
import { StepLoop } from '../../runtime/src/engine/step-loop.js';
import type { EngineMessage } from '../../runtime/src/engine/protocol.js';
import { generateRequest } from '../../runtime/src/schedule/generate-request.fixture.js';
import { Scheduler } from '../../runtime/src/schedule/scheduler.js';
import { engineSettings } from '../integration/engine-settings.js';

const [checkpoint = ''] = process.argv.slice(2);

const options = await planEngine(engineSettings(checkpoint, { maxNumSeqs: 4, blockSize: 64 }));
const engine = await loadEngine(options, () => undefined, null);
let onMessage: (message: EngineMessage) => void = () => undefined;
const scheduler = new Scheduler({ ...options, prefixCaching: true, hybrid: engine.info.hybrid });
const loop = new StepLoop(
  engine,
  scheduler,
  (message) => onMessage(message),
  () => performance.now(),
);
void loop.run();

let asked = 0;
function ask(prompt: readonly number[]): Promise<number> {
  const id = String((asked += 1));
  return new Promise((resolve) => {
    const submittedAt = performance.now();
    onMessage = (message) => {
      if (message.type !== 'step' || !message.updates.some((update) => update.id === id)) return;
      resolve(performance.now() - submittedAt);
    };
    loop.submit(generateRequest(id, prompt, { maxTokens: 1 }), null);
  });
}

interface Question {
  readonly prompt: readonly number[];
  readonly count: number;
  readonly pauseMs: number;
}

process.on('message', ({ prompt, count, pauseMs }: Question) => {
  void (async () => {
    const times: number[] = [];
    for (let i = 0; i < count; i += 1) {
      times.push(await ask(prompt));
      if (pauseMs > 0) await sleep(pauseMs);
    }
    process.send?.(times);
  })();
});
process.on('disconnect', () => process.exit(0));
process.send?.('ready');
