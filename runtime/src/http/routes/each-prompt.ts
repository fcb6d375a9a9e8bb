// A request of several prompts that no answers follow: all are checked before any runs, and so many run at once, alongside
// whatever the engine generates.

import type { Request, Response } from 'express';
import type { GenerateRequest } from '../../engine/protocol.js';
import { nameAnswer } from '../access/request-record.js';
import type { PromptContext } from '../generation/prompt-result.js';
import { sendJson } from '../replica/send-json.js';
import { resolveName, type ServedModel } from '../replica/served-model.js';
import { newId, routeOf, whileAdmitted, type ServerParts } from '../replica/server-parts.js';

/** Of one request's prompts, in the engine: OpenAI's clients send up to 2,048. */
const maxAtOnce = 64;

export interface PromptsWork<Input, Result> {
  /** What the answer's id begins with. */
  readonly prefix: string;
  /** The name that the client asked for; null: it did not say. */
  readonly model: string | null;
  readonly priority: number | null;
  readonly inputs: readonly Input[];
  readonly prepare: (
    input: Input,
    id: string,
    model: ServedModel,
    signal: AbortSignal,
  ) => Promise<GenerateRequest>;
  readonly run: (request: GenerateRequest, context: PromptContext) => Promise<Result>;
  readonly answer: (answered: AnsweredPrompts<Result>) => object;
}

export interface AnsweredPrompts<Result> {
  readonly id: string;
  readonly modelName: string;
  /** In the order of the inputs. */
  readonly results: readonly Result[];
  readonly usage: { readonly prompt_tokens: number; readonly total_tokens: number };
}

/** @throws ApiError of the work; model_not_found, model_not_ready, queue_full, rate_limit_exceeded */
export async function answerPrompts<Input, Result>(
  parts: ServerParts,
  [request, response]: readonly [Request, Response],
  { prefix, model, priority, inputs, prepare, run, answer }: PromptsWork<Input, Result>,
): Promise<void> {
  const serving = parts.lifecycle.requireServing();
  const modelName = resolveName(parts.names, model, request);
  const id = newId(prefix);
  nameAnswer(response, id);
  const { metrics, now, turns } = parts;
  const accounted = { id, route: routeOf(request), model: modelName };
  const atOnce = Math.min(inputs.length, maxAtOnce, parts.admission.limit);
  await whileAdmitted(parts, response, accounted, atOnce, async (signal, account) => {
    const context = { ...serving, metrics, now, modelName, signal, account, turns };
    const prepared = await Promise.all(
      inputs.map((input, index) => prepare(input, `${id}-${String(index)}`, serving.model, signal)),
    );
    const requests = prepared.map((each) => account.share(each, priority));
    const tokens = requests.reduce((sum, { prompt }) => sum + prompt.length, 0);
    account.spendPrompts(tokens, signal);
    const results: Result[] = [];
    while (results.length < requests.length) {
      const some = requests.slice(results.length, results.length + atOnce);
      results.push(...(await Promise.all(some.map((each) => run(each, context)))));
    }
    const usage = { prompt_tokens: tokens, total_tokens: tokens };
    await sendJson(response, answer({ id, modelName, results, usage }), turns, signal);
  });
}
