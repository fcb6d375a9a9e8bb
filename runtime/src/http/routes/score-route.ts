// POST score: pairs of texts, in vLLM's form.

import type { RequestHandler } from 'express';
import { parseScore } from '../../request/prepare/parse-scores.js';
import type { ServerParts } from '../replica/server-parts.js';
import { answerPairs } from './pair-scores.js';

export function scoreRoute(parts: ServerParts): RequestHandler {
  return async (request, response) => {
    parts.lifecycle.requireServing();
    const parsed = parseScore(request.body);
    await answerPairs(parts, [request, response], parsed, 'score-', ({ id, modelName, scores, usage }) => ({
      id,
      object: 'list',
      created: Math.floor(Date.now() / 1000),
      model: modelName,
      data: scores.map((score, index) => ({ index, object: 'score', score })),
      usage,
    }));
  };
}
