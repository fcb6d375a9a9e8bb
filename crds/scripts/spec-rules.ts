// The CRD's CEL rules as a flat table, so that the operator judges a manifest as the API server does, in the same words.

import type { SpecRule } from '../src/spec-rule.js';
import type { JsonSchema } from './json-schema.js';
import { banner } from './typescript-files.js';

/**
 * Kubernetes' own functions for URLs and quantities, which CEL does not have: the operator parses those fields. What an object
 * was before an update, the API server alone knows.
 */
const kubernetesAlone = /\b(isURL|isQuantity)\(|\boldSelf\b/;

export function rulesModule(schema: JsonSchema, constant: string, source: string): string {
  return `${banner(source)}
import type { SpecRule } from '../spec-rule.js';

export const ${constant}: readonly SpecRule[] = ${JSON.stringify(rulesOf(schema, []), null, 2)};
`;
}

function rulesOf(schema: JsonSchema, at: readonly string[]): SpecRule[] {
  const { properties = {}, items } = schema;
  return [
    ...(schema['x-kubernetes-validations'] ?? [])
      .filter(({ rule }) => !kubernetesAlone.test(rule))
      .map(({ rule, fieldPath = '', message }) => ({ at, rule, fieldPath, message })),
    ...Object.entries(properties).flatMap(([name, property]) => rulesOf(property, [...at, name])),
    ...(items === undefined ? [] : rulesOf(items, [...at, '[]'])),
  ];
}
