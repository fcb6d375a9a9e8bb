// An engine that follows a script, with one token per byte.

import { setTimeout as sleep } from 'node:timers/promises';
import type { EngineHealth } from '../engine/engine-state.js';
import { emptyOutput } from '../engine/output-queue.js';
import type { EngineOutput, EngineStats, GenerateRequest } from '../engine/protocol.js';
import type { GenerationEngine } from './replica/engine-port.js';

/** Answers one request; throws what the engine would throw. */
export type Script = (
  request: GenerateRequest,
  signal: AbortSignal,
) => AsyncIterable<EngineOutput> | Iterable<EngineOutput>;

export const output = (tokens: readonly number[], finish: EngineOutput['finish'] = null): EngineOutput => ({
  ...emptyOutput,
  tokens,
  finish,
  queueMs: 1,
  cachedTokens: 3,
});

/** In the vocabulary of `tokenizerJson`. */
export const byteIds = (text: string): number[] => [...Buffer.from(text)];

/** Each text is one engine step; the last ends with `stop`. */
export function says(...steps: string[]): Script {
  return function* () {
    for (const step of steps) yield output(byteIds(step));
    yield { ...output([]), finish: 'stop', stopToken: 2 } satisfies EngineOutput;
  };
}

/** One token per 5 ms until nobody listens. */
export const endless: Script = async function* (_request, signal) {
  while (!signal.aborted) {
    await sleep(5);
    yield output(byteIds('a'));
  }
};

export class ScriptedEngine implements GenerationEngine {
  /** What is answered from now on. */
  script = says('Hi', ' é', '!');
  readonly stats: EngineStats | null = null;
  readonly requests: GenerateRequest[] = [];
  open = 0;
  flushes = 0;
  readonly withdrawn: string[] = [];

  health(): EngineHealth {
    const info = {
      architecture: 'llama',
      isa: 'portable',
      threads: 1,
      vocabSize: 300,
      weightBytes: 1,
      workspaceBytes: 1,
      numBlocks: 8,
      kvBytesPerBlock: 1,
      stateBytesPerSeq: 0,
      draftBytesPerSeq: 0,
      hybrid: false,
      bidirectional: false,
      collectives: 'NCCL 2.27.7',
      selfCheckMs: 40,
      kvLayout: 'the same',
    };
    const device = {
      name: 'AMD Instinct MI300X',
      architecture: 'gfx942',
      computeUnits: 38,
      xcds: 1,
      partition: 'cpx_nps4',
      memoryBytes: 24 * 2 ** 30,
    };
    const warmup = { ran: 0, leftOut: [], seconds: 0 };
    const state = { kind: 'ready', info, device, plannedBlocks: 7, maxModelLen: 64, warmup } as const;
    const numericalFaults = { notFinite: 2, collapsed: 0, stuck: 0 };
    return { state, pid: 1, heartbeatAgeMs: 5, restarts: 0, inFlight: this.open, numericalFaults };
  }

  withdraw(ticket: string): void {
    this.withdrawn.push(ticket);
  }

  flushCache(): void {
    this.flushes += 1;
  }

  async *submit(
    request: GenerateRequest,
    { signal }: { readonly signal: AbortSignal },
  ): AsyncGenerator<EngineOutput> {
    this.requests.push(request);
    this.open += 1;
    try {
      let isFirst = true;
      for await (const each of this.script(request, signal)) {
        // As the engine's: never all of the prompt.
        const cachedTokens = Math.min(each.cachedTokens ?? 0, request.prompt.length - 1);
        yield { ...each, cachedTokens: isFirst ? cachedTokens : null };
        isFirst = false;
      }
    } finally {
      this.open -= 1;
    }
  }
}
