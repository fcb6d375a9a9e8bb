// Models as a gateway lists them, in OpenAI's and Anthropic's form at once.

import type { ModelRoute } from '../domain/route-table.js';

export function listModels(visible: readonly (readonly [string, ModelRoute])[]): object {
  const names = visible.map(([name]) => name);
  return {
    object: 'list',
    data: visible.map(([name, route]) => describeModel(name, route)),
    has_more: false,
    first_id: names[0] ?? null,
    last_id: names.at(-1) ?? null,
  };
}

/** @param id as the client names it: an alias has the model as its root */
export function describeModel(id: string, { name, service, created }: ModelRoute): object {
  return {
    id,
    object: 'model',
    created,
    owned_by: service,
    root: name,
    type: 'model',
    display_name: id,
    created_at: new Date(created * 1000).toISOString(),
  };
}
