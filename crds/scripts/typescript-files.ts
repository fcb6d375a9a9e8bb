// TypeScript made from JSON Schema: types (json-schema-to-typescript) and the schemas themselves as constants,
// which ajv compiles when a process starts.

import { compile } from 'json-schema-to-typescript';
import { defaultsOf, type JsonSchema } from './json-schema.js';

export const banner = (source: string): string =>
  `// Generated from crds/${source} by \`npm run generate\`. Do not edit.\n`;

/** One module of types: an interface for each object that has a title. */
export async function typesModule(schema: JsonSchema, name: string, source: string): Promise<string> {
  return compile(structuredClone(schema) as Parameters<typeof compile>[0], name, {
    bannerComment: banner(source),
    additionalProperties: false,
    ignoreMinAndMaxItems: true,
    enableConstEnums: false,
    style: { singleQuote: true, printWidth: 110 },
  });
}

/** One module that holds a schema as the constant `constant`. */
export function schemaModule(schema: JsonSchema, constant: string, source: string): string {
  return `${banner(source)}\nexport const ${constant}: object = ${JSON.stringify(schema, null, 2)};\n`;
}

/** The defaults of the spec as a constant, for those who run without an API server. */
export function defaultsModule(specSchema: JsonSchema, source: string): string {
  const defaults = JSON.stringify(defaultsOf(specSchema), null, 2);
  return `${banner(source)}
/** What the API server fills in where a manifest says nothing. */
export const specDefaults = ${defaults} as const;
`;
}
