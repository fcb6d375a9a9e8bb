// One prompt that no answer follows, such as an embedding's: submitted, awaited, measured and logged, however it ends.

import type { EngineOutput, GenerateRequest } from '../../engine/protocol.js';
import type { LoopTurns, Steps } from '../../loop-turns.js';
import { through } from '../../request/prepare/dense-layers.js';
import type { FinishedGeneration } from '../../observe/ended-request.js';
import { abortReason, asApiError, type GenerationContext } from './generation.js';

/**
 * Of length 1.
 * @param dimensions so many of the first values, which are a shorter embedding of models made so (Matryoshka)
 * Errors as of `runPrompt`.
 */
export async function runEmbedding(
  request: GenerateRequest,
  context: PromptContext,
  dimensions?: number,
): Promise<Float32Array> {
  const { projection } = context.model;
  const whole = await runPrompt(request, context, function* ({ embedding }) {
    return embedding === null ? null : yield* through(projection, embedding);
  });
  return normalized(whole.subarray(0, dimensions));
}

export interface PromptContext extends GenerationContext {
  readonly turns: LoopTurns;
}

/**
 * @param read what is wanted of an output; null: that one does not have it
 * @throws ApiError when the engine fails or the server ends the request
 */
export async function runPrompt<Result>(
  request: GenerateRequest,
  { engine, metrics, now, modelName, signal, account, turns }: PromptContext,
  read: (output: EngineOutput) => Steps<Result | null>,
): Promise<Result> {
  const arrivedAt = now();
  let queueMs: number | null = null;
  let cachedTokens = 0;
  let preemptions = 0;
  const promptTokens = request.prompt.length;
  const ended = account.begin();
  let [finishReason, errorCode]: [string, string | null] = ['stop', null];
  try {
    for await (const output of engine.submit(request, { signal })) {
      queueMs ??= output.queueMs;
      cachedTokens += output.cachedTokens ?? 0;
      preemptions += output.preemptions;
      const steps = read(output);
      const first = steps.next();
      // What is short needs no turn.
      const result = first.done === true ? first.value : await turns.run(() => steps, signal);
      if (result === null) continue;
      metrics.embedded(promptTokens, cachedTokens);
      return result;
    }
    throw new Error('the engine ended a request without its result');
  } catch (error) {
    const apiError = abortReason(signal) ?? asApiError(error);
    finishReason = apiError.code === 'request_aborted' ? 'abort' : 'error';
    errorCode = finishReason === 'error' ? apiError.code : null;
    throw apiError;
  } finally {
    const endedAt = now();
    const finished: FinishedGeneration = {
      id: request.id,
      promptId: request.id,
      model: modelName,
      stream: false,
      maxTokens: null,
      promptTokens,
      cachedTokens,
      preemptions,
      usage: {
        promptTokens: queueMs === null ? 0 : promptTokens,
        cachedTokens,
        completionTokens: 0,
        reasoningTokens: 0,
        acceptedDraftTokens: 0,
      },
      finishReason,
      errorCode,
      arrivedAt,
      submittedAt: arrivedAt,
      startedAt: queueMs === null ? null : arrivedAt + queueMs,
      // The prompt is all there is: with its last row it is done.
      firstTokenAt: finishReason === 'stop' ? endedAt : null,
      lastTokenAt: null,
      endedAt,
      answer: null,
    };
    metrics.finished(finished);
    ended(finished);
  }
}

/** As OpenAI's embeddings are, and vLLM's: the dot product of two is their cosine. */
function normalized(values: Float32Array): Float32Array {
  const squares = values.reduce((sum, value) => sum + value * value, 0);
  const length = Math.max(Math.sqrt(squares), 1e-12);
  return values.map((value) => value / length);
}
