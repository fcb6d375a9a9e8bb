import { expect, test } from '@jest/globals';
import { adapterRoomOf, adapterSettings } from './adapter-settings.js';

const [{ read }] = adapterSettings;

test('adapters are names with places', () => {
  expect(read('a=/there,b/c:d=s3://bucket/prefix/,e=file:///x=y')).toEqual([
    { name: 'a', uri: '/there' },
    { name: 'b/c:d', uri: 's3://bucket/prefix/' },
    { name: 'e', uri: 'file:///x=y' },
  ]);
  expect(read('')).toEqual([]);
});

test.each([
  ['/there', 'expected NAME=DIR or NAME=URI, found "/there"'],
  ['a=', 'the adapter a has no place'],
  ['=x', 'the name "" is none of an adapter'],
  ['a b=x', 'the name "a b" is none of an adapter'],
  ['a=x,a=y', 'the name "a" is there twice'],
])('%s is refused', (text, message) => {
  expect(() => read(text)).toThrow(message);
});

test('there is room for those that are named, or for as many as was said', () => {
  const adapters = [{ name: 'a', uri: '/a' }];
  expect(adapterRoomOf({ adapters, maxAdapters: null, maxAdapterRank: 16 })).toEqual({
    max: 1,
    maxRank: 16,
  });
  expect(adapterRoomOf({ adapters, maxAdapters: 4, maxAdapterRank: 64 })).toEqual({ max: 4, maxRank: 64 });
});
