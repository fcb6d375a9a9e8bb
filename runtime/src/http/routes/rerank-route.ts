// POST rerank: documents by how well they answer a query, best first, in the form that Cohere, Jina and vLLM share.

import type { RequestHandler } from 'express';
import { parseRerank } from '../../request/prepare/parse-scores.js';
import type { ServerParts } from '../replica/server-parts.js';
import { answerPairs } from './pair-scores.js';

export function rerankRoute(parts: ServerParts): RequestHandler {
  return async (request, response) => {
    parts.lifecycle.requireServing();
    const parsed = parseRerank(request.body);
    const { pairs, topN, returnsDocuments } = parsed;
    await answerPairs(parts, [request, response], parsed, 'rerank-', ({ id, modelName, scores, usage }) => ({
      id,
      model: modelName,
      usage,
      results: scores
        .map((score, index) => ({
          index,
          ...(returnsDocuments ? { document: { text: pairs[index]?.document ?? '' } } : {}),
          relevance_score: score,
        }))
        .sort((a, b) => b.relevance_score - a.relevance_score)
        .slice(0, topN ?? scores.length),
    }));
  };
}
