// POST score: pairs of texts, in vLLM's form.

import type { RequestHandler } from 'express';
import { logitsOf, scoreOf } from '../../request/prepare/classifier.js';
import { requireScorer } from '../../request/prepare/model-tasks.js';
import { parseScore, preparePair } from '../../request/prepare/parse-scores.js';
import { runPrompt } from '../generation/prompt-result.js';
import type { ServerParts } from '../replica/server-parts.js';
import { answerPrompts } from './each-prompt.js';

export function scoreRoute(parts: ServerParts): RequestHandler {
  return async (request, response) => {
    const { model } = parts.lifecycle.requireServing();
    const parsed = parseScore(request.body);
    const scorer = requireScorer(model);
    await answerPrompts(parts, [request, response], {
      ...parsed,
      prefix: 'score-',
      inputs: parsed.pairs,
      prepare: (pair, id, served, signal) => preparePair(parsed, pair, id, scorer, served, signal),
      run: (each, context) => runPrompt(each, context, (output) => logitsOf(scorer, output)),
      answer: ({ id, modelName, results, usage }) => ({
        id,
        object: 'list',
        created: Math.floor(Date.now() / 1000),
        model: modelName,
        data: results.map((logits, index) => ({
          index,
          object: 'score',
          score: scoreOf(scorer, logits, parsed.activates),
        })),
        usage,
      }),
    });
  };
}
