// GET models, in OpenAI's, Anthropic's and KServe's form at once.

import type { RequestHandler } from 'express';
import { resolveName, type ModelNames } from '../replica/served-model.js';
import type { ServerParts } from '../replica/server-parts.js';

export function listModelsRoute({ names, lifecycle }: ServerParts, startedAt: number): RequestHandler {
  return (_request, response) => {
    const all = [names.name, ...names.aliases, ...names.adapters.all.map(({ name }) => name)];
    const maxModelLen = lifecycle.model?.maxModelLen ?? null;
    response.json({
      object: 'list',
      data: all.map((name) => describe(name, names, maxModelLen, startedAt)),
      models: all,
      has_more: false,
      first_id: all[0],
      last_id: all.at(-1),
    });
  };
}

/** KServe asks here whether a model is ready: 503 until it is. */
export function getModelRoute({ names, lifecycle }: ServerParts, startedAt: number): RequestHandler {
  return (request, response) => {
    const name = resolveName(names, String(request.params['name']), request);
    const maxModelLen = lifecycle.model?.maxModelLen ?? null;
    const ready = lifecycle.health().state === 'serving';
    response
      .status(ready ? 200 : 503)
      .json({ ...describe(name, names, maxModelLen, startedAt), name, ready });
  };
}

/** An adapter's root is where it was loaded from, and its parent the model. */
function describe(id: string, names: ModelNames, maxModelLen: number | null, created: number): object {
  const adapter = names.adapters.get(id);
  return {
    id,
    object: 'model',
    created,
    owned_by: 'llmservice',
    root: adapter?.uri ?? names.name,
    parent: adapter === null ? null : names.name,
    max_model_len: maxModelLen,
    ...anthropicModel(id, maxModelLen, created),
  };
}

/** Prompt and answer share one context. */
function anthropicModel(id: string, maxModelLen: number | null, created: number): object {
  return {
    type: 'model',
    display_name: id,
    created_at: new Date(created * 1000).toISOString(),
    max_input_tokens: maxModelLen,
    max_tokens: maxModelLen,
    capabilities: null,
    lifecycle: 'active',
    line: null,
    deprecated_at: null,
    retires_at: null,
  };
}
