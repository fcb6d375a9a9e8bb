// Requests to an engine's client, and what they give.

import type { EngineClient } from '../../runtime/src/engine/engine-client.js';
import type { EngineOutput, GenerateRequest } from '../../runtime/src/engine/protocol.js';
import { generateRequest } from '../../runtime/src/schedule/generate-request.fixture.js';

let requests = 0;

/** For 24 tokens, greedy, by default. */
export function request(prompt: ArrayLike<number>, changes: Partial<GenerateRequest> = {}): GenerateRequest {
  return generateRequest(`request-${requests++}`, prompt, { maxTokens: 24, ...changes });
}

export interface Generated {
  readonly tokens: number[];
  readonly last: EngineOutput;
}

/** Runs a request to its end. */
export function generate(client: EngineClient, asked: GenerateRequest): Promise<Generated> {
  return collect(client.submit(asked, { signal: new AbortController().signal }));
}

export async function collect(outputs: AsyncIterable<EngineOutput>): Promise<Generated> {
  const tokens: number[] = [];
  let last: EngineOutput | null = null;
  for await (const output of outputs) {
    tokens.push(...output.tokens);
    last = output;
  }
  return { tokens, last: last! };
}
