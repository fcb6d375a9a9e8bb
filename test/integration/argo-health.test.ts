// The health check of the sample for Argo CD, run by a real Lua 5.1, which is the version that Argo CD embeds: it says of a
// service what `wait` says of it.

import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import type { Condition, LlmService } from '@llmservice/crds';
import { parse } from 'yaml';
import { waitVerdict } from '../../operator/src/status/wait-verdict.js';
import { run } from '../processes.js';

const { data } = parse(readFileSync('deploy/samples/argocd/argocd-cm.yaml', 'utf8')) as {
  data: Record<string, string>;
};
const script = data['resource.customizations.health.llmservice.dev_LlmService']!;

/** A JSON value as Lua writes it; null is absent there. */
function inLua(value: unknown): string {
  if (Array.isArray(value)) return `{${value.map(inLua).join(',')}}`;
  if (typeof value !== 'object' || value === null)
    return JSON.stringify(value ?? null).replace(/^null$/, 'nil');
  return `{${Object.entries(value)
    .map(([key, each]) => `[${JSON.stringify(key)}]=${inLua(each)}`)
    .join(',')}}`;
}

async function health(service: object): Promise<{ status: string; message: string }> {
  const program = `obj = ${inLua(service)}\nlocal function check()\n${script}\nend\nlocal h = check()\nio.write(h.status, "\\n", h.message)`;
  const { code, stdout, stderr } = await run('lua5.1', ['-'], program);
  expect([code, stderr]).toEqual([0, '']);
  const [status = '', ...message] = stdout.split('\n');
  return { status, message: message.join('\n') };
}

const condition = (
  type: string,
  status: Condition['status'],
  reason: string,
  observedGeneration = 2,
): Condition => ({
  ...{ type, status, reason, observedGeneration },
  ...{ message: `Why "${reason}".`, lastTransitionTime: '2026-01-01T00:00:00Z' },
});
const service = (...conditions: Condition[]): LlmService =>
  ({ metadata: { name: 'a', generation: 2 }, spec: {}, status: { conditions } }) as unknown as LlmService;

const verdicts = {
  Healthy: 'reached',
  Suspended: 'reached',
  Degraded: 'failed',
  Progressing: 'waiting',
} as const;

test.each<[string, keyof typeof verdicts, LlmService]>([
  [
    'serves',
    'Healthy',
    service(condition('Ready', 'True', 'Serving'), condition('Stalled', 'False', 'NotStalled')),
  ],
  ['sleeps', 'Healthy', service(condition('Ready', 'True', 'Asleep'))],
  ['loads', 'Progressing', service(condition('Ready', 'False', 'Loading'))],
  ['is stopped', 'Suspended', service(condition('Ready', 'False', 'Stopped'))],
  ['is over its budget', 'Suspended', service(condition('Ready', 'False', 'OverBudget'))],
  [
    'failed',
    'Degraded',
    service(condition('Ready', 'False', 'ModelNotFound'), condition('Stalled', 'True', 'ModelNotFound')),
  ],
  [
    'serves in its previous revision',
    'Degraded',
    service(condition('Ready', 'True', 'Serving'), condition('Stalled', 'True', 'RolledBack')),
  ],
  ['was Ready before the spec changed', 'Progressing', service(condition('Ready', 'True', 'Serving', 1))],
  [
    'had failed before the spec changed',
    'Progressing',
    service(condition('Stalled', 'True', 'ModelNotFound', 1)),
  ],
  ['has no conditions', 'Progressing', service()],
])('a service that %s is %s', async (_, status, of) => {
  const found = await health(of);
  expect(found.status).toBe(status);
  expect(waitVerdict(of, 'serving').kind).toBe(verdicts[status]);
  expect(found.message).not.toBe('');
});

test('one that the operator never saw is Progressing, and says for what it waits', async () => {
  expect(await health({ metadata: { generation: 1 } })).toEqual({
    status: 'Progressing',
    message: 'The operator has not processed this generation yet.',
  });
});
