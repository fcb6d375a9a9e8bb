// OpenAI's best_of: of the answers generated for each prompt, those with the highest mean log probability per token.

import { addUsage, type WholeChoice } from './answer-shape.js';
import type { Choices } from '../../request/fields/choices.js';

/** @param all `generated` answers of each prompt, one prompt after the other; gives `given` of each, best first */
export function bestChoices(all: readonly WholeChoice[], { given, generated }: Choices): WholeChoice[] {
  if (given === generated) return [...all];
  const best: WholeChoice[] = [];
  for (let first = 0; first < all.length; first += generated) {
    const group = all.slice(first, first + generated);
    const ranked = group.toSorted((a, b) => b.meanLogprob - a.meanLogprob).slice(0, given);
    // Who asks for more answers than are given pays for all of them.
    best.push(
      ...ranked.map((each, place) => ({
        ...each,
        usage: addUsage(place === 0 ? group.map(({ usage }) => usage) : []),
      })),
    );
  }
  return best;
}
