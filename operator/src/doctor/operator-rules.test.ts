import { readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { operatorRules, requestsOf } from './operator-rules.js';

interface ChartRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

test('what is asked for the operator is what its chart grants', async () => {
  const helpers = new URL('../../../charts/llmservice-operator/templates/_helpers.tpl', import.meta.url);
  const text = /define "operator\.rules" -\}\}\n([^]*?)\{\{- end \}\}/.exec(
    await readFile(helpers, 'utf8'),
  )?.[1];
  const granted = (parse(text ?? '') as ChartRule[]).flatMap(({ apiGroups, resources, verbs }) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((resource) => verbs.map((verb) => [group, resource, verb].join(' '))),
    ),
  );
  const asked = requestsOf(operatorRules).map(({ group, resource, verb }) =>
    [group, resource, verb].join(' '),
  );
  expect(asked.sort()).toEqual(granted.sort());
});
