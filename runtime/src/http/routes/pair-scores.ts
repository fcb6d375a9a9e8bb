// Scores of pairs of texts: by the labels of a model that judges, or by the cosine of two embeddings of one that embeds.

import type { Request, Response } from 'express';
import { logitsOf, scoreOf } from '../../request/prepare/classifier.js';
import { cosinesOf, prepareSide, requireNoInstruction, sidesOf } from '../../request/prepare/bi-encoder.js';
import { requireScorer } from '../../request/prepare/model-tasks.js';
import { preparePair, type PairsRequest } from '../../request/prepare/parse-scores.js';
import { runEmbedding, runPrompt } from '../generation/prompt-result.js';
import type { ServerParts } from '../replica/server-parts.js';
import { answerPrompts, type AnsweredPrompts } from './each-prompt.js';

/** One score per pair, in their order. */
export type AnsweredPairs = Omit<AnsweredPrompts<unknown>, 'results'> & {
  readonly scores: readonly number[];
};

/** @throws ApiError task_not_supported, invalid_request, and as `answerPrompts` */
export async function answerPairs(
  parts: ServerParts,
  exchange: readonly [Request, Response],
  parsed: PairsRequest,
  prefix: string,
  answer: (answered: AnsweredPairs) => object,
): Promise<void> {
  const { model } = parts.lifecycle.requireServing();
  if (model.classifier === null && model.embeds) {
    requireNoInstruction(parsed);
    const sides = sidesOf(parsed.pairs);
    await answerPrompts(parts, exchange, {
      ...parsed,
      prefix,
      inputs: sides,
      prepare: (side, id, served, signal) => prepareSide(parsed, side, id, served, signal),
      run: runEmbedding,
      answer: ({ results, ...rest }) => answer({ ...rest, scores: cosinesOf(parsed.pairs, sides, results) }),
    });
    return;
  }
  const scorer = requireScorer(model);
  await answerPrompts(parts, exchange, {
    ...parsed,
    prefix,
    inputs: parsed.pairs,
    prepare: (pair, id, served, signal) => preparePair(parsed, pair, id, scorer, served, signal),
    run: (each, context) => runPrompt(each, context, (output) => logitsOf(scorer, output)),
    answer: ({ results, ...rest }) =>
      answer({ ...rest, scores: results.map((logits) => scoreOf(scorer, logits, parsed.activates)) }),
  });
}
