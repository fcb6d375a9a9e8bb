// POST rerank: documents by how well they answer a query, best first, in the form that Cohere, Jina and vLLM share.

import type { RequestHandler } from 'express';
import { logitsOf, scoreOf } from '../../request/prepare/classifier.js';
import { requireScorer } from '../../request/prepare/model-tasks.js';
import { parseRerank, preparePair } from '../../request/prepare/parse-scores.js';
import { runPrompt } from '../generation/prompt-result.js';
import type { ServerParts } from '../replica/server-parts.js';
import { answerPrompts } from './each-prompt.js';

export function rerankRoute(parts: ServerParts): RequestHandler {
  return async (request, response) => {
    const { model } = parts.lifecycle.requireServing();
    const parsed = parseRerank(request.body);
    const { pairs, topN, returnsDocuments } = parsed;
    const scorer = requireScorer(model);
    await answerPrompts(parts, [request, response], {
      ...parsed,
      prefix: 'rerank-',
      inputs: pairs,
      prepare: (pair, id, served, signal) => preparePair(parsed, pair, id, scorer, served, signal),
      run: (each, context) => runPrompt(each, context, (output) => logitsOf(scorer, output)),
      answer: ({ id, modelName, results, usage }) => ({
        id,
        model: modelName,
        usage,
        results: results
          .map((logits, index) => ({
            index,
            ...(returnsDocuments ? { document: { text: pairs[index]?.document ?? '' } } : {}),
            relevance_score: scoreOf(scorer, logits, parsed.activates),
          }))
          .sort((a, b) => b.relevance_score - a.relevance_score)
          .slice(0, topN ?? results.length),
      }),
    });
  };
}
