import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { betaFields, partsOf } from '../src/beta-fields.js';
import { betaVersion, renamedCel } from './beta-version.js';
import type { JsonSchema } from './json-schema.js';

interface Definition {
  readonly spec: { readonly versions: readonly [{ name: string; schema: { openAPIV3Schema: JsonSchema } }] };
}
const file = new URL('../llmservices.llmservice.dev.yaml', import.meta.url);
const [alpha] = (parse(readFileSync(file, 'utf8'), { merge: true }) as Definition).spec.versions;

const at = (schema: JsonSchema | undefined, parts: readonly string[]): JsonSchema | undefined =>
  parts.reduce<JsonSchema | undefined>(
    (parent, part) => (part === '[]' ? parent?.items : parent?.properties?.[part]),
    schema,
  );

describe('the schema of v1beta1', () => {
  const schema = betaVersion(alpha).schema.openAPIV3Schema;

  test.each(betaFields)('has $path as $name, and no other field there', (field) => {
    const { parents, own } = partsOf(field);
    const older = at(alpha.schema.openAPIV3Schema, parents)?.properties ?? {};
    const newer = at(schema, parents)?.properties ?? {};
    expect(Object.keys(older)).toContain(own);
    expect(older[field.name] === undefined || field.values !== undefined).toBe(true);
    expect(newer[field.name]?.type).toBe(older[own]?.type);
    expect(Object.keys(newer)).toHaveLength(Object.keys(older).length);
  });

  test('names no field by its path in v1alpha1, in no rule, message or description', () => {
    const text = JSON.stringify(schema);
    for (const { path, values } of betaFields) {
      const mention = path.split('.').slice(-2).join('.').replace('[]', '');
      if (values === undefined && path !== 'spec.stop')
        expect(text).not.toMatch(new RegExp(`\\b${mention}\\b(?!\\.)`));
    }
  });
});

test('the page has each of them, by both names', () => {
  const page = readFileSync(new URL('../../deploy/docs/api-versions.md', import.meta.url), 'utf8');
  const rows = page.split('\n').filter((line) => line.startsWith('| `'));
  for (const { path, name } of betaFields) {
    const older = path.replace('spec.', '');
    const newer = older.replace(/[^.]+$/, name);
    const found = rows.find((row) => row.startsWith(`| \`${older}\``)) ?? '';
    expect(found).toContain(older === newer ? '`auto`, `surge`, `drain`' : `| \`${newer}\` |`);
  }
});

test.each([
  ['self.routing.host', 'spec', 'self.routing.hostname'],
  ['self.host', 'spec.routing', 'self.hostname'],
  ['self.host', 'spec.tls', 'self.host'],
  [
    'has(oldSelf.host) && self.host.matches("self.host")',
    'spec.routing',
    'has(oldSelf.hostname) && self.hostname.matches("self.host")',
  ],
  [
    'self.canary.steps.all(step, step.weight > 0 && other.weight > 0)',
    'spec',
    'self.canary.steps.all(step, step.weightPercent > 0 && other.weight > 0)',
  ],
  ['self.limits[self.accelerator.devices].host', 'spec', 'self.limits[self.accelerator.count].host'],
])('in %j, where self is %j', (rule, place, result) => {
  expect(renamedCel(rule, place)).toBe(result);
});

test('a rule on a field whose values are others is refused', () => {
  expect(() => renamedCel("self.rollout.strategy == 'Drain'", 'spec')).toThrow('whose values are others');
});
