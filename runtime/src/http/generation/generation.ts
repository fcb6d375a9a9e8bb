// One generation from prompt to last token: prepared, submitted, read as text, measured and logged once it ends,
// however it ends.

import { FailureError } from '@llmservice/crds';
import type { EngineOutput, GenerateRequest } from '../../engine/protocol.js';
import type { FinishedGeneration } from '../../observe/ended-request.js';
import type { ServerMetrics } from '../../metrics/server-metrics.js';
import { ApiError } from '../../request/body/api-error.js';
import type { RequestAccount } from '../../keys/request-account.js';
import type { TokenCounts } from '../../keys/token-counts.js';
import { choiceSeed } from '../../request/fields/choices.js';
import type { ApiRequest } from '../../request/parse/parse-request.js';
import { withPrompt } from '../../request/text/prompt-echo.js';
import type { TextDelta, TextStream } from '../../request/text/text-stream.js';
import type { GenerationEngine } from '../replica/engine-port.js';
import type { PromptScores } from './prompt-share.js';
import { preparePrompt, type AskedGeneration, type Prompt } from './prompt.js';
import type { ServedModel } from '../replica/served-model.js';
import { AnswerKeeper } from '../../observe/answer-keeper.js';

export interface GenerationContext {
  readonly engine: GenerationEngine;
  readonly model: ServedModel;
  readonly metrics: ServerMetrics;
  /** Monotonic, in milliseconds. */
  readonly now: () => number;
  /** The name that the answer carries. */
  readonly modelName: string;
  /** Aborted when the client goes away, or with an ApiError when the server has to end it. */
  readonly signal: AbortSignal;
  readonly account: RequestAccount;
}

/** Of several answers to one prompt the first alone counts it, and only once the engine has begun with it. */
export type Usage = TokenCounts;

export class Generation {
  private readonly arrivedAt: number;
  /** When the engine was asked; null: not yet. */
  private submittedAt: number | null = null;
  private firstOutputAt: number | null = null;
  private lastOutputAt: number | null = null;
  private queueMs: number | null = null;
  private cachedTokens = 0;
  private preemptions = 0;
  private acceptedDraftTokens = 0;
  private readonly answer: AnswerKeeper | null;
  private tokensScored = 0;
  private sumOfLogprobs = 0;
  private readonly text: TextStream;
  private readonly request: ApiRequest;

  private constructor(
    readonly id: string,
    private readonly context: GenerationContext,
    private readonly prompt: Prompt,
    /** Of the answers to the prompt; the first computes it. */
    private readonly choice: number,
    private readonly outputs: AsyncIterable<EngineOutput>,
    arrivedAt: number,
  ) {
    this.request = prompt.request;
    this.text = prompt.newText();
    this.answer = context.account.keepsTexts ? new AnswerKeeper() : null;
    this.arrivedAt = arrivedAt;
  }

  /**
   * Generations of one request, one for each prompt. Everything that can be refused is refused here, before a byte is
   * sent and before anything is spent.
   * @throws ApiError
   */
  static async start(asked: readonly AskedGeneration[], context: GenerationContext): Promise<Generation[]> {
    const arrivedAt = context.now();
    const { engine, signal, account } = context;
    const prompts = await Promise.all(asked.map((each) => preparePrompt(each, context)));
    const tokens = prompts.reduce((sum, { prepared }) => sum + prepared.prompt.length, 0);
    account.spendPrompts(tokens, signal);
    return prompts.map((prompt) => {
      const outputs = engine.submit(prompt.prepared, { signal });
      return new Generation(prompt.prepared.id, context, prompt, 0, outputs, arrivedAt);
    });
  }

  /** Another answer to the same prompt, drawn with a seed of its own; its deltas come once the first's are read. */
  sibling(choice: number): Generation {
    const { context, prompt, arrivedAt } = this;
    if (prompt.share === null) throw new Error('the prompt has one answer');
    const { sampling } = prompt.prepared;
    const id = `${this.id}-${String(choice)}`;
    const prepared: GenerateRequest = {
      ...prompt.prepared,
      id,
      sampling: { ...sampling, seed: choiceSeed(sampling.seed, choice) },
      promptLogprobs: false,
    };
    const outputs = prompt.share.afterwards(() => {
      generation.submittedAt = context.now();
      return context.engine.submit(prepared, { signal: context.signal });
    });
    const generation = new Generation(id, context, prompt, choice, outputs, arrivedAt);
    return generation;
  }

  get usage(): Usage {
    const isFirst = this.choice === 0;
    const { ownUsage } = this;
    return {
      ...ownUsage,
      promptTokens: isFirst && this.queueMs !== null ? ownUsage.promptTokens : 0,
      cachedTokens: isFirst ? ownUsage.cachedTokens : 0,
    };
  }

  /** As if it were the only answer to its prompt. */
  get ownUsage(): Usage {
    return {
      promptTokens: this.promptTokens,
      cachedTokens: this.cachedTokens,
      completionTokens: this.text.completionTokens,
      reasoningTokens: this.text.reasoningTokens,
      acceptedDraftTokens: this.acceptedDraftTokens,
    };
  }

  /** See `WholeChoice`; of what has been read. */
  get meanLogprob(): number {
    if (this.prompt.prepared.sampling.topLogprobs === null) return NaN;
    return this.tokensScored === 0 ? -Infinity : this.sumOfLogprobs / this.tokensScored;
  }

  /** See `WholeChoice`; complete once a token has been read. */
  get promptScores(): PromptScores | null {
    const { promptLogprobs } = this.request.details;
    return promptLogprobs === null
      ? null
      : { scores: this.prompt.share?.scores ?? [], alternatives: promptLogprobs };
  }

  private get promptTokens(): number {
    return this.prompt.prepared.prompt.length;
  }

  /**
   * One delta per engine output; the last has `finish`. To be read once.
   * @throws ApiError when the engine fails or the server ends the generation
   */
  async *deltas(): AsyncGenerator<TextDelta> {
    let outcome = 'abort';
    let errorCode: string | null = null;
    let begun = false;
    const ended = this.context.account.begin();
    // What the engine is to do reaches it with the first output that is asked for.
    if (this.choice === 0) this.submittedAt = this.context.now();
    try {
      for await (const given of this.outputs) {
        const output = this.request.maxTokens === 0 ? withoutTokens(given) : given;
        if (this.choice === 0) this.prompt.share?.take(output);
        const before = this.text.completionTokens;
        const own = this.text.push(output);
        this.measure(output, this.text.completionTokens - before);
        this.weigh(output, this.text.completionTokens - before);
        // The prompt's scores are complete with the first token.
        const begins: boolean = !begun && (output.tokens.length > 0 || own.finish !== null);
        begun ||= begins;
        const delta = begins ? this.withPrompt(own) : own;
        // What ended the tokens, whatever the answer asks for.
        if (delta.finish !== null) outcome = delta.finish === 'tool_calls' ? 'stop' : delta.finish;
        this.answer?.add(delta);
        yield this.request.details.omitsReasoning ? { ...delta, reasoning: '' } : delta;
        if (delta.finish !== null) return;
      }
      throw abortReason(this.context.signal) ?? new Error('the engine ended a generation without a reason');
    } catch (error) {
      const apiError = abortReason(this.context.signal) ?? asApiError(error);
      outcome = apiError.code === 'request_aborted' ? 'abort' : 'error';
      errorCode = outcome === 'error' ? apiError.code : null;
      throw apiError;
    } finally {
      if (this.choice === 0) this.prompt.share?.end();
      const finished = this.finished(outcome, errorCode);
      this.context.metrics.finished(finished);
      ended(finished);
    }
  }

  /** The first delta of an answer, with what is reported of its prompt. */
  private withPrompt(delta: TextDelta): TextDelta {
    const { prepared, share, echo } = this.prompt;
    const { tokenIds, logprobs } = this.request.details;
    const first = tokenIds ? { ...delta, promptTokenIds: [...prepared.prompt] } : delta;
    return echo === null ? first : withPrompt(first, echo, share?.scores ?? [], logprobs);
  }

  private weigh({ logprobs }: EngineOutput, tokens: number): void {
    for (const { logprob } of logprobs?.slice(0, tokens) ?? []) {
      this.sumOfLogprobs += logprob;
      this.tokensScored += 1;
    }
  }

  private measure(output: EngineOutput, tokens: number): void {
    const { queueMs, cachedTokens, preemptions, acceptedDrafts, finish } = output;
    const { metrics, now, account } = this.context;
    const at = now();
    if (queueMs !== null) this.queueMs = queueMs;
    if (cachedTokens !== null) this.cachedTokens = cachedTokens;
    this.preemptions += preemptions;
    // What followed a stop string is not counted.
    this.acceptedDraftTokens += Math.min(acceptedDrafts, tokens);
    if (tokens === 0 && this.firstOutputAt === null && finish !== null)
      metrics.embedded(this.promptTokens, this.cachedTokens);
    if (tokens > 0) {
      metrics.generated(tokens);
      account.spendGenerated(tokens);
      if (this.firstOutputAt === null)
        metrics.firstTokens(this.promptTokens, this.cachedTokens, (at - this.arrivedAt) / 1000);
      else metrics.laterTokens((at - (this.lastOutputAt ?? at)) / 1000);
      this.firstOutputAt ??= at;
      this.lastOutputAt = at;
    }
  }

  private finished(finishReason: string, errorCode: string | null): FinishedGeneration {
    const { context, submittedAt, queueMs } = this;
    return {
      id: this.id,
      promptId: this.prompt.prepared.id,
      model: context.modelName,
      stream: this.request.stream,
      maxTokens: this.request.maxTokens,
      promptTokens: this.promptTokens,
      cachedTokens: this.cachedTokens,
      preemptions: this.preemptions,
      usage: this.usage,
      finishReason,
      errorCode,
      arrivedAt: this.arrivedAt,
      submittedAt,
      startedAt: submittedAt === null || queueMs === null ? null : submittedAt + queueMs,
      firstTokenAt: this.firstOutputAt,
      lastTokenAt: this.lastOutputAt,
      endedAt: context.now(),
      answer: this.answer?.text ?? null,
    };
  }
}

/** Why nobody waits for a generation any more; null: somebody does. */
export function abortReason({ aborted, reason }: AbortSignal): ApiError | null {
  if (!aborted) return null;
  return reason instanceof ApiError ? reason : ApiError.of('request_aborted', 'the client went away');
}

/** Of an answer that was to have none. */
function withoutTokens(output: EngineOutput): EngineOutput {
  const finish = output.finish === null ? null : 'length';
  return { ...output, tokens: [], logprobs: null, finish, stopToken: null, stopLogprobs: null };
}

/** Errors as clients see them: failures with their reason, anything else without its inside. */
export function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof FailureError) return ApiError.ofFailure(error.failure);
  return ApiError.of('internal_error', 'an internal error ended the request; the log has the details');
}
