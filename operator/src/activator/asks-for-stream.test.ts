import { expect, test } from '@jest/globals';
import { asksForStream } from './asks-for-stream.js';

const mib = 2 ** 20;

test.each<[string, boolean]>([
  ['{"stream":true}', true],
  ['{ "a" : [1, {"b": "}"}],\r\n\t"stream" :\n true , "c": {} }', true],
  ['{"stream":false,"stream":true}', true],
  ['{"stream":true,"stream":false}', false],
  ['{"stream":null}', false],
  ['{"stream":"true"}', false],
  ['{"stream_options":{"stream":true}}', false],
  ['{"a":"stream","stream2":true}', false],
  ['{"a":"\\"stream\\":true"}', false],
  ['{"a":"\\\\","stream":true}', true],
  ['{"é„“":"ü\\"","stream":true}', true],
  ['[{"stream":true}]', false],
  ['"stream"', false],
  ['{"stream"', false],
  ['{"stream":', false],
  ['{"a":"\\', false],
  ['', false],
])('%s: %s', (body, expected) => {
  expect(asksForStream(Buffer.from(body))).toBe(expected);
});

test('a large body takes no memory', () => {
  const body = Buffer.concat([
    Buffer.from('{"a":['),
    Buffer.alloc(30 * mib, '{},'),
    Buffer.from('{}],"stream":true}'),
  ]);
  const before = process.memoryUsage().heapUsed;
  expect(asksForStream(body)).toBe(true);
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(16 * mib);
});
