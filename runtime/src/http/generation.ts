// One generation from prompt to last token: prepared, submitted, read as text, measured and logged once it ends,
// however it ends.

import { FailureError } from '@llmservice/crds';
import type { EngineOutput } from '../engine/protocol.js';
import { logGeneration, type FinishedGeneration } from '../log/request-log.js';
import type { Logger } from '../log/logger.js';
import type { ServerMetrics } from '../metrics/server-metrics.js';
import { ApiError } from '../request/api-error.js';
import type { ApiRequest, PromptSource } from '../request/parse-request.js';
import { prepareGeneration } from '../request/prepare-generation.js';
import { opensReasoning } from '../request/reasoning.js';
import { TextStream, type TextDelta } from '../request/text-stream.js';
import { ToolReader } from '../tools/tool-reader.js';
import type { GenerationEngine } from './engine-port.js';
import type { ServedModel } from './served-model.js';
import { newId } from './server-parts.js';

export interface GenerationContext {
  readonly engine: GenerationEngine;
  readonly model: ServedModel;
  readonly metrics: ServerMetrics;
  readonly logger: Logger;
  /** Monotonic, in milliseconds. */
  readonly now: () => number;
  readonly route: string;
  /** The name that the answer carries. */
  readonly modelName: string;
  /** Aborted when the client goes away, or with an ApiError when the server has to end it. */
  readonly signal: AbortSignal;
}

export interface Usage {
  readonly promptTokens: number;
  /** Of the prompt's tokens, those that the prefix cache had. */
  readonly cachedTokens: number;
  readonly completionTokens: number;
  readonly reasoningTokens: number;
}

export class Generation {
  private readonly arrivedAt: number;
  private firstOutputAt: number | null = null;
  private lastOutputAt: number | null = null;
  private queueMs: number | null = null;
  private cachedTokens = 0;

  private constructor(
    readonly id: string,
    private readonly context: GenerationContext,
    private readonly request: ApiRequest,
    private readonly outputs: AsyncIterable<EngineOutput>,
    private readonly text: TextStream,
    private readonly promptTokens: number,
    arrivedAt: number,
  ) {
    this.arrivedAt = arrivedAt;
  }

  /** Everything that can be refused is refused here, before a byte is sent. @throws ApiError */
  static async start(
    id: string,
    request: ApiRequest,
    source: PromptSource,
    context: GenerationContext,
  ): Promise<Generation> {
    const arrivedAt = context.now();
    const { model, engine, signal } = context;
    const prepared = await prepareGeneration(request, source, id, model);
    // Reasoning is told apart where a chat template wrote the prompt.
    const think = source.kind === 'messages' ? model.think : null;
    const text = new TextStream({
      newDetokenizer: () => model.tokenizer.detokenizer({ skipSpecialTokens: request.skipSpecialTokens }),
      stopStrings: request.stopStrings,
      includeStopString: request.includeStopString,
      stopTokenIds: request.stopTokenIds,
      think,
      inReasoning: think !== null && opensReasoning(prepared.prompt, think),
      tools: toolReaderOf(request, model),
    });
    const outputs = engine.submit(prepared, { signal });
    return new Generation(id, context, request, outputs, text, prepared.prompt.length, arrivedAt);
  }

  get usage(): Usage {
    return {
      promptTokens: this.promptTokens,
      cachedTokens: this.cachedTokens,
      completionTokens: this.text.completionTokens,
      reasoningTokens: this.text.reasoningTokens,
    };
  }

  /**
   * One delta per engine output; the last has `finish`. To be read once.
   * @throws ApiError when the engine fails or the server ends the generation
   */
  async *deltas(): AsyncGenerator<TextDelta> {
    let outcome = 'abort';
    let errorCode: string | null = null;
    try {
      for await (const output of this.outputs) {
        const before = this.text.completionTokens;
        const delta = this.text.push(output);
        this.measure(output, this.text.completionTokens - before);
        // What ended the tokens, whatever the answer asks for.
        if (delta.finish !== null) outcome = delta.finish === 'tool_calls' ? 'stop' : delta.finish;
        yield delta;
        if (delta.finish !== null) return;
      }
      throw this.abortReason() ?? new Error('the engine ended a generation without a reason');
    } catch (error) {
      const told = this.abortReason() ?? asApiError(error);
      outcome = this.context.signal.aborted && told.code === 'request_aborted' ? 'abort' : 'error';
      errorCode = outcome === 'error' ? told.code : null;
      throw told;
    } finally {
      this.finish(outcome, errorCode);
    }
  }

  private measure({ queueMs, cachedTokens }: EngineOutput, tokens: number): void {
    const { metrics, now } = this.context;
    const at = now();
    if (queueMs !== null) this.queueMs = queueMs;
    if (cachedTokens !== null) this.cachedTokens = cachedTokens;
    if (tokens > 0) {
      metrics.generated(tokens);
      if (this.firstOutputAt === null) metrics.firstTokens(this.promptTokens, (at - this.arrivedAt) / 1000);
      else metrics.laterTokens(tokens, (at - (this.lastOutputAt ?? at)) / 1000);
      this.firstOutputAt ??= at;
      this.lastOutputAt = at;
    }
  }

  private finish(finishReason: string, errorCode: string | null): void {
    const { context, firstOutputAt, lastOutputAt, queueMs, arrivedAt } = this;
    const round = (milliseconds: number): number => Math.round(milliseconds * 100) / 100;
    const finished: FinishedGeneration = {
      id: this.id,
      route: context.route,
      model: context.modelName,
      stream: this.request.stream,
      promptTokens: this.promptTokens,
      completionTokens: this.text.completionTokens,
      finishReason,
      errorCode,
      queueMs: queueMs === null ? null : round(queueMs),
      prefillMs:
        firstOutputAt === null ? null : round(Math.max(0, firstOutputAt - arrivedAt - (queueMs ?? 0))),
      decodeMs: firstOutputAt === null || lastOutputAt === null ? null : round(lastOutputAt - firstOutputAt),
      totalMs: round(context.now() - arrivedAt),
    };
    context.metrics.finished(finished);
    logGeneration(context.logger, finished);
  }

  private abortReason(): ApiError | null {
    const { signal } = this.context;
    if (!signal.aborted) return null;
    const reason: unknown = signal.reason;
    return reason instanceof ApiError ? reason : ApiError.of('request_aborted', 'the client went away');
  }
}

function toolReaderOf(
  { tools, skipSpecialTokens }: ApiRequest,
  { toolDialect }: ServedModel,
): ToolReader | null {
  if (tools === null || toolDialect === null) return null;
  const newCallId = (): string => newId('call_');
  return new ToolReader({ dialect: toolDialect, use: tools, newCallId, skipSpecialTokens });
}

/** Errors as clients see them: failures with their reason, anything else without its inside. */
export function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof FailureError) return ApiError.ofFailure(error.failure);
  return ApiError.of('internal_error', 'an internal error ended the request; the log has the details');
}
