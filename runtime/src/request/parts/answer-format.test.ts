import { describe, expect, test } from '@jest/globals';
import { readAnswerFormat } from './answer-format.js';
import type { ApiError } from '../body/api-error.js';

const schema = { type: 'object', properties: { a: { type: 'integer' } } };

const nested = (depth: number): object => (depth === 0 ? {} : { type: 'array', items: nested(depth - 1) });

describe('readAnswerFormat', () => {
  test.each([
    [{}, null],
    [{ response_format: { type: 'text' } }, null],
    [{ structured_outputs: {} }, null],
    [{ structured_outputs: { json_object: false } }, null],
    [{ response_format: { type: 'json_object' } }, { kind: 'json', text: '' }],
    [{ structured_outputs: { json_object: true } }, { kind: 'json', text: '' }],
    [
      { response_format: { type: 'json_schema', json_schema: { name: 'x', schema } } },
      { kind: 'jsonSchema', text: JSON.stringify(schema) },
    ],
    [{ guided_json: schema }, { kind: 'jsonSchema', text: JSON.stringify(schema) }],
    [{ guided_json: JSON.stringify(schema) }, { kind: 'jsonSchema', text: JSON.stringify(schema) }],
    [{ structured_outputs: { json: schema } }, { kind: 'jsonSchema', text: JSON.stringify(schema) }],
    [{ guided_regex: '[ab]+' }, { kind: 'regex', text: '[ab]+' }],
    [{ guided_grammar: 'root ::= "a"' }, { kind: 'ebnf', text: 'root ::= "a"' }],
    [{ guided_choice: ['yes', 'a "no"'] }, { kind: 'ebnf', text: 'root ::= "yes" | "a \\"no\\""\n' }],
  ])('of %j is %j', (fields, expected) => {
    expect(readAnswerFormat(fields)).toEqual(expected);
  });

  test.each<[object, string]>([
    [{ guided_regex: 'a', guided_choice: ['a'] }, 'guided_choice and guided_regex exclude each other'],
    [
      { response_format: { type: 'json_object' }, structured_outputs: { regex: 'a' } },
      'structured_outputs.regex and response_format exclude each other',
    ],
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
      'guided_json.minLength is not supported beside anyOf: put it inside',
    ],
    [
      { guided_json: { allOf: [{ type: 'string' }, { minLength: 2 }] } },
      'guided_json.allOf of more than one schema is not supported',
    ],
    [
      { response_format: { type: 'json_schema', json_schema: { schema: { if: {} } } } },
      'response_format.json_schema.schema.if is not supported',
    ],
    [{ guided_json: { minLength: 3 } }, 'guided_json.minLength needs a type beside it'],
    [{ guided_json: { items: { pattern: 'a' } } }, 'guided_json.items.pattern needs a type beside it'],
    [{ guided_json: { type: 'number', multipleOf: 2 } }, 'multipleOf is supported for type integer alone'],
    [{ guided_json: { type: 'integer', multipleOf: 0.5 } }, 'with a whole number'],
    [{ guided_json: { properties: null } }, 'guided_json.properties must be an object of schemas'],
    [{ guided_json: { properties: ['a'] } }, 'guided_json.properties must be an object of schemas'],
    [{ guided_json: { allOf: null } }, 'guided_json.allOf must be a list of schemas'],
    [{ guided_json: { items: { anyOf: {} } } }, 'guided_json.items.anyOf must be a list of schemas'],
    [{ guided_json: nested(40) }, 'is nested more than 32 schemas deep'],
    [{ guided_json: { enum: ['x'.repeat(70_000)] } }, 'characters; the most are 65536'],
  ])('refuses %j', (fields, message) => {
    const refused = (): unknown => readAnswerFormat(fields as Record<string, unknown>);
    expect(refused).toThrow(message);
    try {
      refused();
    } catch (error) {
      expect((error as ApiError).status).toBe(400);
    }
  });

  test('takes a schema with what a generator of schemas writes beside it', () => {
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
