// What it gains that the next step waits in the engine while one runs: tokens a second of the demo model by number of
// sequences, the share of the time that the engine is in steps, and how long a newcomer waits for its first token beside
// them; steps alternating with plans, and planned ahead, in turn. The gain is the median over rounds, each of which has both.
// usage: tsx test/bench/plan-ahead.ts [ROUNDS [THREADS [none|ngram|mtp [DRAFTS]]]]

import { fileURLToPath } from 'node:url';
import { loadEngine } from '@llmservice/native';
import { planEngine } from '../../runtime/src/engine/plan-engine.js';
import type { EngineMessage } from '../../runtime/src/engine/protocol.js';
import { StepLoop } from '../../runtime/src/engine/step-loop.js';
import { generateRequest } from '../../runtime/src/schedule/generate-request.fixture.js';
import { Scheduler } from '../../runtime/src/schedule/scheduler.js';
import { engineSettings } from '../integration/engine-settings.js';

const checkpoint = fileURLToPath(new URL('../../deploy/demo-model/checkpoint', import.meta.url));
const [, , rounds = '9', threads = '1', method = 'none', drafts = '3'] = process.argv;
if (method !== 'none' && method !== 'ngram' && method !== 'mtp') throw new Error(`no method ${method}`);
const tokensEach = 300;

/** The scheduler, whose planning ahead can be switched off. */
class Switched extends Scheduler {
  plansAhead = true;

  override planAhead(): ReturnType<Scheduler['planAhead']> {
    return this.plansAhead ? super.planAhead() : null;
  }
}

const settings = engineSettings(checkpoint, {
  maxNumSeqs: 17,
  blockSize: 64,
  threads: Number(threads),
  prefixCaching: false,
  speculative: { method, tokens: Number(drafts) },
});
const options = await planEngine(settings);
const engine = await loadEngine(options, () => undefined);
const scheduler = new Switched({ ...options, prefixCaching: false, hybrid: engine.info.hybrid });
/** By request: called for each of its tokens. */
const hearers = new Map<string, (finished: boolean) => void>();
/** Milliseconds in steps since the start. */
let inSteps = 0;
const hear = (message: EngineMessage): void => {
  if (message.type !== 'step') return;
  inSteps = message.stats.stepMicrosTotal / 1000;
  for (const { id, tokens, finish } of message.updates)
    if (tokens.length > 0) hearers.get(id)?.(finish !== null);
};
const loop = new StepLoop(engine, scheduler, hear, () => performance.now());
void loop.run();

let asked = 0;
/** Milliseconds to the first token, and to the last. */
function ask(maxTokens: number): Promise<{ first: number; last: number }> {
  const id = String((asked += 1));
  const submittedAt = performance.now();
  let first: number | null = null;
  return new Promise((resolve) => {
    hearers.set(id, (finished) => {
      const now = performance.now() - submittedAt;
      first ??= now;
      if (!finished) return;
      hearers.delete(id);
      resolve({ first, last: now });
    });
    loop.submit(
      generateRequest(
        id,
        Array.from({ length: 8 }, (_, i) => (asked * 31 + i * 7) % 2000),
        { maxTokens },
      ),
      null,
    );
  });
}

/** Tokens a second of so many sequences that run together, and the share of the time in steps. */
async function rate(sequences: number): Promise<{ perSecond: number; busy: number }> {
  const [submittedAt, before] = [performance.now(), inSteps];
  await Promise.all(Array.from({ length: sequences }, () => ask(tokensEach)));
  const took = performance.now() - submittedAt;
  return { perSecond: (sequences * tokensEach * 1000) / took, busy: (inSteps - before) / took };
}

/** Milliseconds to the first tokens of newcomers, one after the other, beside so many sequences. */
async function firstTokens(sequences: number): Promise<number[]> {
  let beside = sequences;
  for (let i = 0; i < sequences; i++) void ask(tokensEach).then(() => beside--);
  const times: number[] = [];
  for (;;) {
    // At any time of a step.
    await new Promise((resolve) => setTimeout(resolve, 3 + Math.random() * 5));
    if (beside < sequences) break;
    const { first } = await ask(1);
    if (beside === sequences) times.push(first);
  }
  while (beside > 0) await new Promise(setImmediate);
  return times;
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length * share)] ?? NaN;
}

/** What one of the two ways gave, over all rounds. */
class Measured {
  readonly rates: number[] = [];
  readonly busy: number[] = [];
  readonly waits: number[] = [];

  async round(sequences: number): Promise<void> {
    const { perSecond, busy } = await rate(sequences);
    this.rates.push(perSecond);
    this.busy.push(busy);
    this.waits.push(...(await firstTokens(sequences)));
  }

  /** Cells of a row. */
  get medians(): string[] {
    const { rates, busy, waits } = this;
    const [middle, late] = [quantile(waits, 0.5), quantile(waits, 0.9)];
    return [
      quantile(rates, 0.5).toFixed(0),
      `${(quantile(busy, 0.5) * 100).toFixed(1)} %`,
      `${middle.toFixed(2)} (${late.toFixed(2)})`,
    ];
  }
}

console.log(
  '| sequences | steps | tok/s | of the time in steps | newcomer to its first token, ms (p90) | gain |\n|---|---|---|---|---|---|',
);
await rate(4);
for (const sequences of [1, 4, 16]) {
  const [alternating, ahead] = [new Measured(), new Measured()];
  for (let round = 0; round < Number(rounds); round++) {
    for (const turn of round % 2 === 0 ? [alternating, ahead] : [ahead, alternating]) {
      scheduler.plansAhead = turn === ahead;
      await turn.round(sequences);
    }
  }
  const gains = ahead.rates.map((rate, round) => rate / (alternating.rates[round] ?? NaN) - 1);
  const gain = { alternating: '', ahead: `${(quantile(gains, 0.5) * 100).toFixed(1)} %` };
  for (const [name, { medians }] of Object.entries({ alternating, ahead }))
    console.log(`| ${[sequences, name, ...medians, gain[name as keyof typeof gain]].join(' | ')} |`);
}
const { draftTokensTotal, acceptedTokensTotal } = scheduler.stats.drafts;
if (draftTokensTotal > 0)
  console.log(`accepted of the drafts: ${(acceptedTokensTotal / draftTokensTotal).toFixed(2)}`);
loop.stop();
await engine.dispose();
