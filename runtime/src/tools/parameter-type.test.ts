import { expect, test } from '@jest/globals';
import { cpuClock } from '../cpu-time.fixture.js';
import { parameterType } from './parameter-type.js';

test.each<[string, object, object]>([
  ['through references', { anyOf: [{ $ref: '#/$defs/A' }, { type: 'null' }] }, { A: { enum: [1] } }],
  ['behind a branch that says nothing', { oneOf: [{}, { allOf: [{ type: 'number' }] }] }, {}],
  [
    'that refers to itself',
    { $ref: '#/$defs/A' },
    { A: { anyOf: [{ $ref: '#/$defs/A' }, { type: 'integer' }] } },
  ],
])('finds the types of a schema %s', (_, x, $defs) => {
  expect(parameterType({ properties: { x }, $defs }, 'x').toJson(' 1 ')).toBe('1');
});

test('reads each schema once, however many branches refer to it', () => {
  const N = { anyOf: Array.from({ length: 6 }, () => ({ $ref: '#/$defs/N' })) };
  const cpuMs = cpuClock();
  const { isText } = parameterType({ properties: { x: { $ref: '#/$defs/N' } }, $defs: { N } }, 'x');
  expect(cpuMs()).toBeLessThan(1000);
  expect(isText).toBe(false);
});

test.each<[object, string, string]>([
  [{ type: 'array' }, "['a', True]", '["a",true]'],
  [{ type: ['object', 'null'] }, "{'a': {'b': None}}", '{"a":{"b":null}}'],
  [{ type: 'array' }, '[1, 2', '"[1, 2"'],
  [{ type: 'array' }, "{'a': 1}", '"{\'a\': 1}"'],
  [{ type: ['array', 'string'] }, "['a' or 'b']", "\"['a' or 'b']\""],
])('of %j reads %s as Python writes it', (x, text, json) => {
  expect(parameterType({ properties: { x } }, 'x').toJson(text)).toBe(json);
});

test.each([
  ['float', '1.5', '1.5'],
  ['int', '3', '3'],
  ['bool', 'True', 'true'],
  ['dict', '{"a": 1}', '{"a": 1}'],
  ['list', '[1]', '[1]'],
  ['str', '1', '"1"'],
])('knows the type %s', (type, text, json) => {
  expect(parameterType({ properties: { x: { type } } }, 'x').toJson(text)).toBe(json);
});

const unit = { type: 'string', enum: ['celsius', 'fahrenheit'] };
const nothing = { type: 'null' };

test.each<[string, object]>([
  ['a choice or nothing', { anyOf: [unit, nothing] }],
  ['a choice or nothing by reference', { anyOf: [{ $ref: '#/$defs/Unit' }, nothing] }],
  ['values of several types', { enum: [1, 'celsius', null] }],
  ['several types with a bound', { type: ['string', 'null'], maxLength: 7 }],
  ['a pattern or nothing', { anyOf: [{ type: 'string', pattern: '^[a-z]{7}$' }, nothing] }],
  ['a format or a number', { oneOf: [{ type: 'string', format: 'date' }, { type: 'number' }] }],
  ['a choice in one branch of texts', { anyOf: [unit, { const: 'kelvin' }] }],
])('takes the space around a text of %s away', (_, x) => {
  const type = parameterType({ properties: { x }, $defs: { Unit: unit } }, 'x');
  expect(type.isText).toBe(false);
  expect(type.toJson(' celsius ')).toBe('"celsius"');
});

test.each<[string, object]>([
  ['any text or nothing', { anyOf: [{ type: 'string' }, nothing] }],
  ['a text of some length', { type: 'string', minLength: 1, maxLength: 3 }],
  ['a text of some length or nothing', { anyOf: [{ type: 'string', minLength: 1 }, nothing] }],
  ['any text or one of some numbers', { anyOf: [{ type: 'string' }, { type: 'integer', enum: [1, 2] }] }],
])('keeps the space around %s', (_, x) => {
  expect(parameterType({ properties: { x } }, 'x').toJson(' a ')).toBe('" a "');
});

test.each([
  ['{}', {}],
  ['true', true],
  ['a description alone', { description: 'whatever' }],
  ['a reference to one that says nothing', { $ref: '#/$defs/Any' }],
])('of a property whose schema is %s reads JSON where it is JSON', (_, x) => {
  const type = parameterType({ properties: { x }, $defs: { Any: {} } }, 'x');
  const texts = ['[1]', '{"a": 1.0}', ' 5 ', 'true', 'null', '"x"', '[1', 'a b', '0012'];
  expect(type.isText).toBe(false);
  expect(texts.map((text) => type.toJson(text))).toEqual([
    '[1]',
    '{"a": 1.0}',
    '5',
    'true',
    'null',
    '"\\"x\\""',
    '"[1"',
    '"a b"',
    '"0012"',
  ]);
});

test.each([
  ['the tool does not have', undefined],
  ['is a string by its bounds', { minLength: 1 }],
  ['refers to nothing', { $ref: '#/$defs/None' }],
])('takes a parameter that %s for a string', (_, x) => {
  expect(parameterType({ properties: x === undefined ? {} : { x } }, 'x').toJson('[1]')).toBe('"[1]"');
});
