import { expect, test } from '@jest/globals';
import { listPage } from './list-page.js';

const ids = Array.from({ length: 50 }, (_, number) => String(number));
/** Every second one is of the list. */
const even = (some: readonly string[]) =>
  Promise.resolve(some.filter((id) => Number(id) % 2 === 0).map((id) => ({ id })));

test('pages go through the list, each entry once', async () => {
  const seen: string[] = [];
  let after: string | undefined;
  for (;;) {
    const page = await listPage(ids, { after, limit: 7 }, even);
    seen.push(...page.data.map(({ id }) => id));
    expect(page).toMatchObject({ object: 'list', first_id: page.data[0]!.id, last_id: page.data.at(-1)!.id });
    if (!page.has_more) break;
    after = page.last_id!;
  }
  expect(seen).toEqual(ids.filter((id) => Number(id) % 2 === 0));
});

test('a page behind something unknown is refused, and one of nothing is empty', async () => {
  await expect(listPage(ids, { after: 'x', limit: 1 }, even)).rejects.toMatchObject({ param: 'after' });
  expect(await listPage([], { after: undefined, limit: 1 }, even)).toEqual({
    object: 'list',
    data: [],
    first_id: null,
    last_id: null,
    has_more: false,
  });
});
