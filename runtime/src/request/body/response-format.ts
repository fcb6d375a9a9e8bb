// Structured output as OpenAI's chat completions ask for it. A schema with `json_object` is how the clients of llama.cpp,
// Together and Fireworks send one.

const nullableText = { type: ['string', 'null'] };
const schema = { type: ['object', 'null'] };
const type = (value: string): object => ({
  required: ['type'],
  properties: { type: { const: value } },
});
/** Null is absent, as everywhere. */
const without = (field: string, instead: string): object => ({
  properties: { [field]: { type: 'null', description: instead } },
});

export const responseFormat = {
  type: 'object',
  required: ['type'],
  additionalProperties: false,
  properties: {
    type: { enum: ['text', 'json_object', 'json_schema'] },
    json_schema: {
      type: ['object', 'null'],
      required: ['schema'],
      additionalProperties: false,
      properties: {
        name: nullableText,
        description: nullableText,
        schema: { type: 'object' },
        // Every schema is enforced.
        strict: { type: ['boolean', 'null'] },
      },
    },
    schema,
  },
  allOf: [
    {
      if: type('json_schema'),
      then: { required: ['json_schema'], properties: { json_schema: { type: 'object' } } },
      else: without('json_schema', 'send it with type: json_schema'),
    },
    {
      if: type('json_object'),
      else: without('schema', 'send type: json_schema, and it as json_schema.schema'),
    },
  ],
};
