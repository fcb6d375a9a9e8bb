// A server on a free port with the real routes, tokenizer and template, whose engine follows a script.

import { ChatTemplate } from '../tokens/chat-template.js';
import { Tokenizer } from '../tokens/tokenizer.js';
import { tokenizerJson } from '../tokens/tokenizer.fixture.js';
import type { EngineHealth } from '../engine/engine-state.js';
import type { EngineOutput, EngineStats, GenerateRequest } from '../engine/protocol.js';
import { makeLogger } from '../log/logger.js';
import { ServerMetrics } from '../metrics/server-metrics.js';
import { openAiSampling } from '../request/generation-defaults.js';
import { Admission } from './admission.js';
import { makeApp } from './app.js';
import type { GenerationEngine } from './engine-port.js';
import { HttpServer } from './http-server.js';
import { Lifecycle } from './lifecycle.js';
import type { ServedModel } from './served-model.js';
import type { ServerParts } from './server-parts.js';

/** Answers one request; throws what the engine would throw. */
export type Script = (
  request: GenerateRequest,
  signal: AbortSignal,
) => AsyncIterable<EngineOutput> | Iterable<EngineOutput>;

export const output = (tokens: readonly number[], finish: EngineOutput['finish'] = null): EngineOutput => ({
  tokens,
  logprobs: null,
  finish,
  stopToken: null,
  queueMs: 1,
  cachedTokens: 3,
  embedding: null,
});

class ScriptedEngine implements GenerationEngine {
  readonly stats: EngineStats | null = null;
  readonly requests: GenerateRequest[] = [];
  open = 0;

  constructor(private readonly script: Script) {}

  health(): EngineHealth {
    const info = {
      architecture: 'llama',
      isa: 'portable',
      threads: 1,
      vocabSize: 300,
      weightBytes: 1,
      workspaceBytes: 1,
      kvBytesPerBlock: 1,
      stateBytesPerSeq: 0,
      draftBytesPerSeq: 0,
      hybrid: false,
    };
    const state = { kind: 'ready', info, numBlocks: 8, maxModelLen: 64 } as const;
    const numericalFaults = { notFinite: 2, collapsed: 0, stuck: 0 };
    return { state, pid: 1, heartbeatAgeMs: 5, restarts: 0, inFlight: this.open, numericalFaults };
  }

  async *submit(
    request: GenerateRequest,
    { signal }: { readonly signal: AbortSignal },
  ): AsyncGenerator<EngineOutput> {
    this.requests.push(request);
    this.open += 1;
    try {
      yield* this.script(request, signal);
    } finally {
      this.open -= 1;
    }
  }
}

export interface ScriptedServer {
  readonly url: string;
  readonly engine: ScriptedEngine;
  readonly parts: ServerParts;
  readonly http: HttpServer;
  readonly tokenizer: Tokenizer;
}

/** @param limit generations that may be in flight */
export async function scriptedServer(
  script: Script,
  { limit = 8, serving = true } = {},
): Promise<ScriptedServer> {
  const tokenizer = Tokenizer.fromJson(tokenizerJson(), 'tokenizer.json');
  const template = ChatTemplate.fromSource({
    templates: [
      {
        name: 'default',
        template:
          '{% for m in messages %}{{ m.role }}:{{ m.content }}{% endfor %}{{ "!" if enable_thinking is false }}',
      },
    ],
    specialTokens: {},
  });
  const lifecycle = new Lifecycle('tiny');
  const engine = new ScriptedEngine(script);
  const model: ServedModel = {
    tokenizer,
    chatTemplate: { render: (input) => Promise.resolve().then(() => template.render(input)) },
    eosIds: [2],
    vocabSize: 300,
    maxModelLen: 64,
    defaults: { sampling: openAiSampling, eosIds: [2] },
    think: null,
  };
  if (serving) {
    lifecycle.startLoading();
    lifecycle.startServing(engine, model);
  }
  const parts: ServerParts = {
    lifecycle,
    names: { name: 'tiny', aliases: ['small'] },
    admission: new Admission(limit),
    metrics: new ServerMetrics('tiny', () => lifecycle),
    logger: makeLogger('error'),
    running: new Set(),
    maxBodyBytes: 100_000,
    now: () => performance.now(),
  };
  const http = new HttpServer(makeApp(parts), parts);
  const port = await http.listen('127.0.0.1', 0);
  return { url: `http://127.0.0.1:${String(port)}`, engine, parts, http, tokenizer };
}
