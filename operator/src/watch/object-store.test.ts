import { expect, test } from '@jest/globals';
import { keyOf } from '../kube/resources.js';
import type { KubeObject } from '../kube/types.js';
import { ObjectStore } from './object-store.js';

const object = (name: string, ...colours: string[]): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'n' },
  data: colours,
});
const newStore = () => new ObjectStore((each) => each['data'] as string[]);
const names = (found: readonly KubeObject[]): string[] => found.map(({ metadata }) => metadata.name);

test('objects are found by their keys, each once, until they change or go', () => {
  const store = newStore();
  for (const each of [object('a', 'red'), object('b', 'red', 'blue', 'red'), object('c')])
    store.set(keyOf(each), each);
  expect(names(store.indexed('red'))).toEqual(['a', 'b']);
  store.set('n/a', object('a', 'blue'));
  expect(names(store.indexed('red'))).toEqual(['b']);
  expect(names(store.indexed('blue'))).toEqual(['b', 'a']);
  store.delete('n/b');
  store.delete('n/nobody');
  expect(names(store.indexed('red'))).toEqual([]);
  expect(names(store.indexed('blue'))).toEqual(['a']);
});

test('a new list takes the place of all, the index too', () => {
  const store = newStore();
  store.set('n/a', object('a', 'red'));
  const before = store.replace(new Map([['n/b', object('b', 'blue')]]));
  expect([...before.keys()]).toEqual(['n/a']);
  expect(store.indexed('red')).toEqual([]);
  expect(names(store.indexed('blue'))).toEqual(['b']);
  expect(names([...store.values()])).toEqual(['b']);
});

test('a look goes through those alone that have the key', () => {
  let looks = 0;
  const store = new ObjectStore((each) => {
    looks += 1;
    return each['data'] as string[];
  });
  for (let each = 0; each < 1000; each += 1) {
    const name = `s-${String(each)}`;
    store.set(`n/${name}`, object(name, String(each % 500)));
  }
  looks = 0;
  expect(store.indexed('7')).toHaveLength(2);
  expect(looks).toBe(0);
});
