// What this replica serves: the names it answers to, and, once loaded, everything that requests need.

import { ApiError } from '../request/api-error.js';
import type { GenerationDefaults } from '../request/generation-defaults.js';
import type { ModelTexts } from '../request/prepare-generation.js';
import type { ThinkIds } from '../request/reasoning.js';

export interface ModelNames {
  readonly name: string;
  readonly aliases: readonly string[];
}

export interface ServedModel extends ModelTexts {
  readonly defaults: GenerationDefaults;
  readonly think: ThinkIds | null;
}

/**
 * The name to answer under: as asked for, or the first where the request names none.
 * @throws ApiError model_not_found, with the served names
 */
export function resolveName({ name, aliases }: ModelNames, asked: string | null): string {
  if (asked === null) return name;
  if (asked === name || aliases.includes(asked)) return asked;
  const served = [name, ...aliases].join(', ');
  throw ApiError.of(
    'model_not_found',
    `the model ${JSON.stringify(asked)} does not exist here; served: ${served}`,
    {
      param: 'model',
    },
  );
}
