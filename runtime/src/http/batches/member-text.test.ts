import { expect, test } from '@jest/globals';
import { memberText } from './member-text.js';

test.each([
  ['{"a":1,"body":{"x":1}}', '{"x":1}'],
  [' { "body" : { "x" : [ 1 , 2 ] } , "a" : 1 } ', '{ "x" : [ 1 , 2 ] }'],
  ['{"a":{"body":1},"body":2}', '2'],
  ['{"body":1,"body":{"y":"}"}}', '{"y":"}"}'],
  ['{"b\\u006fdy":"a\\"}{"}', '"a\\"}{"'],
  ['{"a":"\\\\","body":null}', 'null'],
  ['{"body":12345678901234567890.0 }', '12345678901234567890.0'],
  ['{"body":[[],{}],"a":true}', '[[],{}]'],
  ['{"a":"body","c":1}', null],
  ['{}', null],
])('%s', (json, text) => {
  expect(memberText(json, 'body')).toBe(text);
  if (text !== null) expect(JSON.parse(text)).toEqual((JSON.parse(json) as { body: unknown }).body);
});

test('names keep their order', () => {
  const body = '{"properties":{"2":{},"1":{},"b":{},"a":{}}}';
  expect(memberText(`{"custom_id":"1","body":${body}}`, 'body')).toBe(body);
});
