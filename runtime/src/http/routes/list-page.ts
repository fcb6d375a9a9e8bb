// A page of a list of what is stored, as OpenAI's clients go through it.

import { invalidRequest, violationAt } from '../../request/body/violation.js';

interface Asked {
  /** Id of the entry that the page begins after. */
  readonly after: string | undefined;
  readonly limit: number;
}

interface Page<Entry> {
  readonly object: 'list';
  readonly data: readonly Entry[];
  readonly first_id: string | null;
  readonly last_id: string | null;
  readonly has_more: boolean;
}

/** Entries that are read at once. */
const atOnce = 20;

/**
 * @param ids of all, in the order of the list
 * @param read those of the ids that belong to the list
 * @throws ApiError invalid_request, and what `read` throws
 */
export async function listPage<Entry extends { readonly id: string }>(
  ids: readonly string[],
  { after, limit }: Asked,
  read: (ids: readonly string[]) => Promise<readonly Entry[]>,
): Promise<Page<Entry>> {
  let next = after === undefined ? 0 : ids.indexOf(after) + 1;
  if (after !== undefined && next === 0)
    throw invalidRequest([violationAt('after', 'is the id of nothing in this list')]);
  const data: Entry[] = [];
  while (data.length < limit && next < ids.length) {
    const some = ids.slice(next, next + Math.min(atOnce, limit - data.length));
    data.push(...(await read(some)));
    next += some.length;
  }
  return {
    object: 'list',
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: next < ids.length,
  };
}
