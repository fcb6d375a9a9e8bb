import { expect, test } from '@jest/globals';
import { cpuClock } from '../cpu-time.fixture.js';
import { parseNoting, writtenAs } from './exact-json.js';
import { mapMembers, namesOf, noteNames } from './written-names.js';

const read = (text: string): unknown => {
  const value = parseNoting(text);
  noteNames(value, text);
  return value;
};

test.each([
  '{"b":1,"10":2,"a":3,"2":4}',
  '{"deep":[{"list":[1,{"3":[],"x":null,"1":{}}]}],"0":"0"}',
  '{"say \\"10":1,"7":"x","\\"1\\":":2,"5":"\\"9\\":"}',
  '{"007":1,"4294967296":2,"5":3,"-1":4,"1.5":5,"":6}',
  '{"__proto__":{"2":1,"1":2},"1":{"constructor":1,"0":2}}',
  '{"b":1.0,"10":[12345678901234567890,-0,{"2":1e5,"a":0.50,"1":7}]}',
  '[{"a":1},[],"text",true,null]',
])('%s is written as it was', (text) => {
  expect(writtenAs(read(text))).toBe(text);
});

test('white space is no part of the order', () => {
  expect(writtenAs(read('{ "b" : 1 ,\n"10"\t: 2, "2" :3 }'))).toBe('{"b":1,"10":2,"2":3}');
});

test('a name that comes twice has its first place and its last value, as JavaScript has it', () => {
  expect(writtenAs(read('{"b":{"2":1},"1":[],"b":{"x":1,"0":2},"1":3}'))).toBe('{"b":{"x":1,"0":2},"1":3}');
});

test('what is made of members has their names in the same order', () => {
  const mapped = mapMembers(read('{"b":1,"10":2}') as object, (member) => [member]);
  expect(namesOf(mapped)).toEqual(['b', '10']);
  expect(mapped).toEqual({ b: [1], 10: [2] });
});

test('long texts take no longer than others', () => {
  const text = `{"a":"${'\\"1\\" :'.repeat(100_000)}","2":${' '.repeat(1_000_000)}1}`;
  const cpuMs = cpuClock();
  expect(namesOf(read(text) as object)).toEqual(['a', '2']);
  expect(cpuMs()).toBeLessThan(1_000);
});
