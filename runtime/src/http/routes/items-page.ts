// A page of the items of a response or a conversation, as OpenAI's clients go through them.

import { invalidRequest, violationAt } from '../../request/body/violation.js';
import type { readQuery } from '../api/read-query.js';
import type { itemsQuery } from '../api/response-queries.js';
import { withIncluded } from '../stored-responses/stored-items.js';
import type { StoredItem } from '../stored-responses/stored-response.js';

/** Items of a page, where the client does not say. */
const defaultLimit = 20;

/**
 * @param stored the oldest first
 * @throws ApiError invalid_request
 */
export function itemsPage(
  stored: readonly StoredItem[],
  { limit = defaultLimit, order = 'desc', after, include }: ReturnType<typeof readQuery<typeof itemsQuery>>,
): object {
  const items = withIncluded(stored, include);
  const inOrder = order === 'asc' ? items : items.toReversed();
  const begin = after === undefined ? 0 : inOrder.findIndex((item) => item.id === after) + 1;
  if (after !== undefined && begin === 0)
    throw invalidRequest([violationAt('after', 'is the id of no item here')]);
  const data = inOrder.slice(begin, begin + limit);
  return listOf(data, begin + data.length < inOrder.length);
}

export const listOf = (data: readonly StoredItem[], hasMore: boolean): object => ({
  object: 'list',
  data,
  first_id: data[0]?.id ?? null,
  last_id: data.at(-1)?.id ?? null,
  has_more: hasMore,
});
