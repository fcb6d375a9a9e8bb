// POST classify: the probabilities of a text's labels, in vLLM's form.

import type { RequestHandler } from 'express';
import { logitsOf, probabilitiesOf } from '../../request/prepare/classifier.js';
import { requireClassifier } from '../../request/prepare/model-tasks.js';
import { parseClassify, prepareClassified } from '../../request/prepare/parse-scores.js';
import { runPrompt } from '../generation/prompt-result.js';
import type { ServerParts } from '../replica/server-parts.js';
import { answerPrompts } from './each-prompt.js';

export function classifyRoute(parts: ServerParts): RequestHandler {
  return async (request, response) => {
    const { model } = parts.lifecycle.requireServing();
    const parsed = parseClassify(request.body);
    const classifier = requireClassifier(model);
    await answerPrompts(parts, [request, response], {
      ...parsed,
      prefix: 'classify-',
      prepare: (input, id, served, signal) =>
        prepareClassified(parsed, input, id, classifier, served, signal),
      run: (each, context) => runPrompt(each, context, (output) => logitsOf(classifier, output)),
      answer: ({ id, modelName, results, usage }) => ({
        id,
        object: 'list',
        created: Math.floor(Date.now() / 1000),
        model: modelName,
        data: results.map((logits, index) => ({
          index,
          label: classifier.names[logits.indexOf(Math.max(...logits))] ?? '',
          probs: probabilitiesOf(classifier, logits, parsed.activates),
          num_classes: logits.length,
        })),
        usage,
      }),
    });
  };
}
