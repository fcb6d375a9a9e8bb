import { readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { leaderRules, operatorRules, requestsOf } from './operator-rules.js';

interface ChartRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

const templates = new URL('../../../charts/llmservice-operator/templates/', import.meta.url);

test.each([
  ['where it serves', operatorRules, '_helpers.tpl', /define "operator\.rules" -\}\}\n([^]*?)\{\{- end \}\}/],
  ['where it runs', leaderRules, 'rbac.yaml', /^( {2}- apiGroups: \[coordination[^]*?)^ *#/m],
])('what is asked for the operator %s is what its chart grants', async (_, rules, file, where) => {
  const [, granting = ''] = where.exec(await readFile(new URL(file, templates), 'utf8')) ?? [];
  const granted = (parse(granting) as ChartRule[]).flatMap(({ apiGroups, resources, verbs }) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((resource) => verbs.map((verb) => [group, resource, verb].join(' '))),
    ),
  );
  const asked = requestsOf(rules).map(({ group, resource, verb }) => [group, resource, verb].join(' '));
  expect(asked.sort()).toEqual(granted.sort());
});
