import { describe, expect, test } from '@jest/globals';
import type { ConfiguredKey } from '@llmservice/crds';
import { readRouteTable, type ModelRoute } from '../domain/route-table.js';
import { RoutingTable } from './routing-table.js';

const route = (name: string, change: Partial<ModelRoute> = {}): ModelRoute => ({
  ...{ name, service: name, url: `http://${name}.team.svc:80`, aliases: [], ca: null, served: [name] },
  ...{ fallback: [], visibleTo: null, created: 0 },
  ...change,
});
const key = (id: string, cacheGroup: string | null = null): ConfiguredKey => ({
  ...{ id, cacheGroup, hashes: [], priority: 0, weight: 1 },
  ...{ tokensPerMinute: null, tokensPerDay: null, concurrency: null },
});

describe('names near to an unknown one', () => {
  const names = ['qwen3-0.6b', 'qwen3-32b', 'llama-3.1-8b', 'text-embedding'];
  const table = new RoutingTable(names.map((name) => route(name)));

  test.each([
    ['qwen3-0.6B', 'near to it: qwen3-0.6b'],
    ['qwen3-32', 'near to it: qwen3-32b'],
    ['llama3.1-8b', 'near to it: llama-3.1-8b'],
    ['embedding', 'near to it: text-embedding'],
    ['gpt-5', `served: ${names.join(', ')}`],
  ])('%s', (asked, said) => {
    expect(table.suggestions(asked, null)).toContain(said);
  });

  test('are not all of hundreds', () => {
    const many = new RoutingTable(Array.from({ length: 300 }, (_, at) => route(`model-${String(at)}`)));
    expect(many.suggestions('x'.repeat(4_000), null)).toBe(
      'GET /v1/models lists the 300 names that are served',
    );
  });
});

test('a model is for keys by their ids and by their groups, and for all where none is named', () => {
  const table = new RoutingTable([route('open'), route('closed', { visibleTo: ['a', 'group'] })]);
  const seen = (who: ConfiguredKey | null) => table.visible(who).map(([name]) => name);
  expect(seen(key('a'))).toEqual(['open', 'closed']);
  expect(seen(key('b', 'group'))).toEqual(['open', 'closed']);
  expect(seen(key('group'))).toEqual(['open', 'closed']);
  expect(seen(key('b'))).toEqual(['open']);
  expect(seen(null)).toEqual(['open', 'closed']);
  expect(table.find('closed', key('b'))).toBeNull();
});

test('others answer in their order, each once, and none of theirs', () => {
  const a = route('a', { fallback: ['b', 'c', 'b-too', 'gone', 'a'] });
  const table = new RoutingTable([
    a,
    route('b', { aliases: ['b-too'], fallback: ['d'] }),
    route('c'),
    route('d'),
  ]);
  expect(table.inOrder(a, null).map(({ name }) => name)).toEqual(['a', 'b', 'c']);
});

test('no model answers instead that the key may not see', () => {
  const a = route('a', { fallback: ['closed', 'b'] });
  const table = new RoutingTable([a, route('closed', { visibleTo: ['team-a'] }), route('b')]);
  const order = (who: ConfiguredKey | null) => table.inOrder(a, who).map(({ name }) => name);
  expect(order(key('team-b'))).toEqual(['a', 'b']);
  expect(order(key('team-a'))).toEqual(['a', 'closed', 'b']);
});

describe('a table', () => {
  test('of an operator that says less is read with what that means', () => {
    const text = '{"gateway":"ns/g","models":[{"name":"a","service":"s","url":"http://s.ns.svc:80"}]}';
    expect(readRouteTable(text).models).toEqual([
      { ...route('a'), service: 's', url: 'http://s.ns.svc:80', served: [] },
    ]);
  });

  test.each(['null', '[]', '{"gateway":"ns/g"}', '{"gateway":"ns/g","models":[{}]}', '{'])(
    'as %s is refused',
    (text) => {
      expect(() => readRouteTable(text)).toThrow();
    },
  );
});
