import { expect, test } from '@jest/globals';
import type { CustomResourceDefinition } from './facts.js';
import { Findings } from './finding.js';
import { judgeConversion } from './judge-conversion.js';

type Spec = NonNullable<CustomResourceDefinition['spec']>;

function judged(conversion: Spec['conversion'] & object, served = true): string[] {
  const versions = [
    { name: 'v1alpha1', served: true, storage: true },
    { name: 'v1beta1', served, storage: false },
  ];
  const findings = new Findings('custom resource');
  judgeConversion({ versions, conversion }, 'llmservices', findings);
  return findings.list.map(({ level, message }) => `${level}: ${message}`);
}

test('a CRD of two versions needs a webhook with a certificate', () => {
  const webhook = (clientConfig: object) => ({ strategy: 'Webhook', webhook: { clientConfig } });
  expect(judged(webhook({ caBundle: 'Y2E=' }))).toEqual([]);
  expect(judged({ strategy: 'None' })).toEqual([
    expect.stringContaining('problem: llmservices serves v1beta1, and nobody converts'),
  ]);
  expect(judged(webhook({}))).toEqual([
    expect.stringContaining('problem: llmservices serves v1beta1, and the operator has not written'),
  ]);
});

test('a CRD of one version needs none', () => {
  expect(judged({ strategy: 'None' }, false)).toEqual([]);
});
