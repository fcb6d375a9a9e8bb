// Whether somebody converts for a CRD that serves two versions. Pure.

import { api } from '@llmservice/crds';
import type { CustomResourceDefinition } from './facts.js';
import type { Findings } from './finding.js';

/** Without a webhook the API server changes the apiVersion alone, and drops what has another name. */
export function judgeConversion(
  spec: CustomResourceDefinition['spec'],
  name: string,
  findings: Findings,
): void {
  if (spec?.versions?.some((each) => each.name === api.betaVersion && each.served) !== true) return;
  const { strategy, webhook } = spec.conversion ?? {};
  if (strategy !== 'Webhook') {
    findings.problem(
      `${name} serves ${api.betaVersion}, and nobody converts: the API server drops fields that have other names there`,
      'Install or upgrade the chart llmservice-operator with conversion.enabled: true.',
    );
  } else if ((webhook?.clientConfig?.caBundle ?? '') === '') {
    findings.problem(
      `${name} serves ${api.betaVersion}, and the operator has not written the certificate of its webhook yet`,
      'See the log of the operator; with conversion.enabled: false the chart serves v1alpha1 alone.',
    );
  }
}
