// The build's schema beside the CRD that it is made from, and beside one that was changed.

import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { llmServiceSchema } from '@llmservice/crds';
import { parse } from 'yaml';
import { schemaDifferences } from './schema-differences.js';

const crd = new URL('../../../crds/llmservices.llmservice.dev.yaml', import.meta.url);
const text = readFileSync(crd, 'utf8');

function differencesFrom(changed: string): ReturnType<typeof schemaDifferences> {
  const { spec } = parse(changed) as { spec: { versions: [{ schema: { openAPIV3Schema: object } }] } };
  return schemaDifferences(llmServiceSchema, spec.versions[0].schema.openAPIV3Schema);
}

test('the CRD of this build has none', () => {
  expect(differencesFrom(text)).toEqual({ missing: [], unknown: [], changed: [] });
});

test('a bound that is excluded no more is one', () => {
  const { changed } = differencesFrom(text.replaceAll('exclusiveMinimum: true', 'exclusiveMinimum: false'));
  expect(changed).toContain('spec.engine.samplingDefaults.plain.topP');
});
