// What this replica serves: the names it answers to, and, once loaded, everything that requests need.

import { headers } from '@llmservice/crds';
import type { Request } from 'express';
import type { ServedAdapters } from '../../adapters/served-adapters.js';
import { ApiError } from '../../request/body/api-error.js';
import type { Fields } from '../../request/body/field-table.js';
import type { GenerationDefaults } from '../../request/fields/generation-defaults.js';
import type { ModelTexts } from '../../request/prepare/model-texts.js';
import type { ThinkIds } from '../../request/text/think-ids.js';

export interface ModelNames {
  readonly name: string;
  readonly aliases: readonly string[];
  /** Which have names of their own. */
  readonly adapters: ServedAdapters;
}

export interface ServedModel extends ModelTexts {
  readonly defaults: GenerationDefaults;
  readonly think: ThinkIds | null;
  /** What /tokenizer_info answers. */
  readonly tokenizerInfo: Fields;
}

/** All names, and each of them after the prefix; null: without. */
export function withPrefix(
  { name, aliases }: Omit<ModelNames, 'adapters'>,
  prefix: string | null,
): Omit<ModelNames, 'adapters'> {
  const further = prefix === null ? [] : [name, ...aliases].map((each) => `${prefix}${each}`);
  return { name, aliases: [...new Set([...aliases, ...further])] };
}

/**
 * The name to answer under: as asked for, or the first where the request names none. Where the route of another service
 * leads here because that one does not answer, its names are understood too, and the answer has ours.
 * @throws ApiError model_not_found, with the served names
 */
export function resolveName(names: ModelNames, asked: string | null, request: Pick<Request, 'get'>): string {
  const { name, aliases, adapters } = names;
  if (asked === null) return name;
  if (asked === name || aliases.includes(asked) || adapters.has(asked)) return asked;
  // Anybody may send the header: it makes a name understood and opens nothing.
  if (request.get(headers.fallbackFor)?.split(',').includes(asked) === true) return name;
  return notServed(names, asked);
}

/** @throws ApiError model_not_found, with the served names */
export function notServed({ name, aliases, adapters }: ModelNames, asked: string): never {
  const served = [name, ...aliases, ...adapters.all.map((each) => each.name)].join(', ');
  throw ApiError.of(
    'model_not_found',
    `the model ${JSON.stringify(asked)} does not exist here; served: ${served}`,
    {
      param: 'model',
    },
  );
}
