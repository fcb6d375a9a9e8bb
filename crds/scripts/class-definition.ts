// The CRD of LlmServiceClass: its defaults have the schemas of the fields of a service that they stand for, so that one word
// means one thing. What the API server would fill in is left out: a class says only what it is given.

import { stringify } from 'yaml';
import type { JsonSchema } from './json-schema.js';

/** What the base file names the fields of a service by. */
const marker = 'x-llmservice-fields';

/** @param base the CRD without these fields; it is not changed */
export function classDefinition<T>(base: T, serviceSpec: JsonSchema): T {
  return filled(structuredClone(base), serviceSpec) as T;
}

export function classDefinitionText(definition: object): string {
  const text = stringify(definition, { aliasDuplicateObjects: false, lineWidth: 118 });
  return `# Generated from crds/llmserviceclasses.base.yaml by \`npm run generate\`. Do not edit.\n${text}`;
}

function filled(node: unknown, serviceSpec: JsonSchema): unknown {
  if (Array.isArray(node)) return node.map((each) => filled(each, serviceSpec));
  if (typeof node !== 'object' || node === null) return node;
  const { [marker]: fields, ...rest } = node as Record<string, unknown>;
  const schema = Object.fromEntries(
    Object.entries(rest).map(([key, value]) => [key, filled(value, serviceSpec)]),
  ) as JsonSchema;
  for (const field of (fields ?? []) as string[]) addField(schema, serviceSpec, field.split('.'));
  return schema;
}

function addField(target: JsonSchema, source: JsonSchema, [name = '', ...rest]: readonly string[]): void {
  const field = source.properties?.[name];
  if (field === undefined) throw new Error(`a service has no field ${name}`);
  target.properties ??= {};
  if (rest.length === 0) {
    target.properties[name] = withoutDefaults(field);
    return;
  }
  const { description = '', type = 'object' } = field;
  target.properties[name] ??= withoutDefaults({ description, type });
  addField(target.properties[name], field, rest);
}

function withoutDefaults(schema: JsonSchema): JsonSchema {
  const { description, properties, items, ...rest } = structuredClone(schema);
  delete rest.default;
  return {
    // A class is in no namespace.
    ...(description === undefined
      ? {}
      : { description: description.replaceAll('of this namespace', "of the service's namespace") }),
    ...rest,
    ...(items === undefined ? {} : { items: withoutDefaults(items) }),
    ...(properties === undefined
      ? {}
      : {
          properties: Object.fromEntries(
            Object.entries(properties).map(([name, each]) => [name, withoutDefaults(each)]),
          ),
        }),
  };
}
