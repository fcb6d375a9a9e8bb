import { describe, expect, test } from '@jest/globals';
import type { Fields } from '../body/field-table.js';
import { readAnswerFormat, type AnswerFormat, type FormatFields } from './answer-format.js';
import type { ApiError } from '../body/api-error.js';

const schema = { type: 'object', properties: { a: { type: 'integer' } } };

const many = (count: number): Fields =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`p${String(i)}`, { type: 'string' }]));

const nested = (depth: number): Fields => (depth === 0 ? {} : { type: 'array', items: nested(depth - 1) });

describe('readAnswerFormat', () => {
  test.each<[FormatFields, AnswerFormat | null]>([
    [{}, null],
    [{ response_format: { type: 'text' } }, null],
    [{ structured_outputs: {} }, null],
    [{ structured_outputs: { json_object: false } }, null],
    [{ response_format: { type: 'json_object' } }, { kind: 'json', text: '' }],
    [{ structured_outputs: { json_object: true } }, { kind: 'json', text: '' }],
    [{ response_format: { type: 'json_object', schema: null } }, { kind: 'json', text: '' }],
    [
      { response_format: { type: 'json_object', schema } },
      { kind: 'jsonSchema', text: JSON.stringify(schema) },
    ],
    [
      { response_format: { type: 'json_schema', json_schema: { name: 'x', schema } } },
      { kind: 'jsonSchema', text: JSON.stringify(schema) },
    ],
    [{ guided_json: schema }, { kind: 'jsonSchema', text: JSON.stringify(schema) }],
    [{ guided_json: JSON.stringify(schema) }, { kind: 'jsonSchema', text: JSON.stringify(schema) }],
    [{ structured_outputs: { json: schema } }, { kind: 'jsonSchema', text: JSON.stringify(schema) }],
    [{ guided_regex: '[ab]+' }, { kind: 'regex', text: '^(([a-b])+)$' }],
    [{ guided_grammar: 'root ::= "a"' }, { kind: 'ebnf', text: 'root ::= "a"' }],
    [{ regex: '[ab]+' }, { kind: 'regex', text: '^(([a-b])+)$' }],
    [{ ebnf: 'root ::= "a"' }, { kind: 'ebnf', text: 'root ::= "a"' }],
    [{ guided_choice: ['yes', 'a "no"'] }, { kind: 'ebnf', text: 'root ::= "yes" | "a \\"no\\""\n' }],
  ])('of %j is %j', (fields, expected) => {
    expect(readAnswerFormat(fields)).toEqual(expected);
  });

  test.each<[FormatFields, string]>([
    [{ guided_regex: 'a', guided_choice: ['a'] }, 'guided_choice and guided_regex exclude each other'],
    [
      { response_format: { type: 'json_object' }, structured_outputs: { regex: 'a' } },
      'structured_outputs.regex and response_format exclude each other',
    ],
    [{ guided_regex: 'a$b' }, 'guided_regex looks around or has ^ or $ inside'],
    [{ structured_outputs: { regex: '\\Aa\\Z' } }, 'structured_outputs.regex cannot be read'],
    [{ guided_json: '{' }, 'guided_json is not JSON'],
    [{ guided_json: '3' }, 'guided_json must be a JSON schema'],
    [
      { guided_json: { type: 'array', uniqueItems: true } },
      'guided_json.uniqueItems is not supported in a schema for answers',
    ],
    [
      { guided_json: { properties: { a: { items: { not: {} } } } } },
      'guided_json.properties.a.items.not is not supported in a schema for answers',
    ],
    [
      { guided_json: { anyOf: [{ type: 'string' }], minLength: 2 } },
      'guided_json.minLength is not supported with anyOf: put it inside',
    ],
    [
      { guided_json: { allOf: [{ type: 'string' }, { minLength: 2 }] } },
      'guided_json.allOf of more than one schema is not supported',
    ],
    [
      { response_format: { type: 'json_schema', json_schema: { schema: { if: {} } } } },
      'response_format.json_schema.schema.if is not supported',
    ],
    [{ guided_json: { minLength: 3 } }, 'guided_json.minLength needs a type with it'],
    [{ guided_json: { items: { pattern: 'a' } } }, 'guided_json.items.pattern needs a type with it'],
    [{ guided_json: { type: 'number', multipleOf: 2 } }, 'multipleOf is supported for type integer alone'],
    [{ guided_json: { type: 'integer', multipleOf: 0.5 } }, 'with a whole number'],
    [{ guided_json: { type: 'integer', multipleOf: 1025 } }, 'multipleOf is supported up to 1024'],
    [
      { guided_json: { type: 'integer', multipleOf: 5, minimum: 0 } },
      'multipleOf is supported with bounds on both sides',
    ],
    [
      { guided_json: { type: 'integer', multipleOf: 5, minimum: 0, maximum: 10_000 } },
      'multipleOf is supported with bounds on both sides',
    ],
    [
      { guided_json: { items: { properties: many(400), minProperties: 200 } } },
      'guided_json.items.minProperties is supported with at most 100 properties that are not required, and there are 400',
    ],
    [{ guided_json: { properties: many(101), maxProperties: 1 } }, 'guided_json.maxProperties is supported'],
    [
      { guided_json: { properties: { a: { type: 'string', pattern: '^([a-z]{1,20}){1,20}$' } } } },
      'guided_json.properties.a.pattern repeats a repetition more than 100 times',
    ],
    [{ guided_regex: '(?:(a{0,5}){0,5}){2,5}' }, 'guided_regex repeats a repetition'],
    [{ guided_choice: ['a'.repeat(300_000)] }, 'guided_choice has 300012 characters; the most are 262144'],
    [{ guided_json: { type: 'object', required: ['a'] } }, 'required has "a", which is not in properties'],
    [
      { guided_json: { properties: { b: {} }, required: ['b', 'toString'] } },
      'required has "toString", which is not in properties',
    ],
    [{ guided_json: { items: { $ref: 'other.json#/a' } } }, 'items.$ref must be # or begin with #/'],
    [{ guided_json: { $ref: '#a', $defs: { a: { $anchor: 'a' } } } }, '$ref must be # or begin with #/'],
    [
      { guided_json: { items: { type: ['float', 'null'] } } },
      'items.type names "float", which is none of string',
    ],
    [{ guided_json: { type: [] } }, 'type must name at least one type'],
    [{ guided_json: { type: 'string', enum: ['a', 1] } }, 'enum has members that are not of the type'],
    [
      { guided_json: { type: ['integer', 'null'], const: 1.5 } },
      'const is not of the type in the same schema',
    ],
    [
      { guided_json: { properties: { a: {} }, patternProperties: { '^b': {} } } },
      'patternProperties is not supported with properties',
    ],
    [
      { guided_json: { type: 'object', patternProperties: { '^a': {}, b$: {} } } },
      'patternProperties of more than one pattern is not supported',
    ],
    [
      { guided_json: { properties: { a: {} }, propertyNames: { pattern: 'b' } } },
      'propertyNames is not supported with properties',
    ],
    [
      { guided_json: { type: 'object', patternProperties: { a: {} }, propertyNames: { maxLength: 1 } } },
      'propertyNames is not supported with patternProperties',
    ],
    [
      { guided_json: { type: 'object', additionalProperties: false, propertyNames: { maxLength: 1 } } },
      'propertyNames is not supported with additionalProperties false',
    ],
    [{ guided_json: { constructor: 1 } }, 'guided_json.constructor is not supported in a schema'],
    [{ guided_json: { properties: null } }, 'guided_json.properties must be an object of schemas'],
    [{ guided_json: { properties: ['a'] } }, 'guided_json.properties must be an object of schemas'],
    [{ guided_json: { allOf: null } }, 'guided_json.allOf must be a list of schemas'],
    [{ guided_json: { items: { anyOf: {} } } }, 'guided_json.items.anyOf must be a list of schemas'],
    [{ guided_json: nested(40) }, 'is nested more than 32 schemas deep'],
    [{ guided_json: { enum: ['x'.repeat(70_000)] } }, 'characters; the most are 65536'],
  ])('refuses %j', (fields, message) => {
    const refused = (): unknown => readAnswerFormat(fields);
    expect(refused).toThrow(message);
    try {
      refused();
    } catch (error) {
      expect((error as ApiError).status).toBe(400);
    }
  });

  test('refuses the text of a schema that is nested too deep for what reads it', () => {
    const json = '['.repeat(5000) + ']'.repeat(5000);
    expect(() => readAnswerFormat({ structured_outputs: { json } })).toThrow(
      'structured_outputs.json is nested deeper than 128 levels',
    );
  });

  test.each([
    { type: 'integer', multipleOf: 1024 },
    { properties: many(100), minProperties: 50 },
    { properties: many(400), required: Object.keys(many(300)), maxProperties: 350 },
    { type: 'string', pattern: '^([a-z0-9-]{1,63}[.]){1,10}$' },
    { type: 'string', pattern: '^([0-9]{3}){1,400}$' },
    { type: 'string', pattern: '^([0-9]+){1,400}$' },
    { type: 'integer', multipleOf: 5, minimum: 0, exclusiveMaximum: 10_000 },
    { type: ['integer', 'null', 'object'], enum: [1, 2.0, null, {}] },
    { type: 'object', patternProperties: { '^a': { type: 'integer' } }, additionalProperties: false },
    { additionalProperties: { type: 'integer' }, propertyNames: { pattern: '^[a-z]+$', type: 'string' } },
    { properties: { next: { $ref: '#' } }, required: ['next'] },
  ])('takes %j', (schema) => {
    expect(readAnswerFormat({ guided_json: schema })?.kind).toBe('jsonSchema');
  });

  test('takes a schema with what a generator of schemas adds to it', () => {
    const generated = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      $defs: { Kind: { enum: ['a', 'b'], title: 'Kind', type: 'string' } },
      title: 'Answer',
      type: 'object',
      properties: {
        kind: { $ref: '#/$defs/Kind', description: 'which' },
        many: { anyOf: [{ type: 'array', items: { type: 'number' } }, { type: 'null' }], default: null },
      },
      required: ['kind'],
      additionalProperties: false,
    };
    expect(readAnswerFormat({ guided_json: generated })?.kind).toBe('jsonSchema');
  });
});
