// InferencePools: whether cluster and operators can have them, and where completions of the services go that want one. Pure.

import type { LlmServiceSpec, LlmServiceStatus } from '@llmservice/crds';
import { keyOf, resources } from '../kube/resources.js';
import type { KubeObject } from '../kube/types.js';
import type { ClusterFacts } from './facts.js';
import { Findings, listed, type Finding } from './finding.js';

const [group = ''] = resources.inferencePools.apiVersion.split('/');

/** What cannot be read the checks of gateways and services report. */
export function checkPools({ groups, operators, services }: ClusterFacts): readonly Finding[] {
  const findings = new Findings('gateways');
  const all = services.state === 'read' ? services.value.map(({ object }) => object) : [];
  const wanting = all.filter((object) => wantsPool(object));
  const installed = operators.state === 'read' ? operators.value : [];
  const picking = installed.filter(({ settings }) => settings.endpointPickerImage !== null);
  if (wanting.length + picking.length === 0) return findings.list;
  const names = listed(wanting.map(keyOf));
  if (groups.state === 'read' && !groups.value.includes(group)) {
    findings.warning(
      wanting.length === 0
        ? 'the operator has an image of an endpoint picker, and the cluster does not know InferencePool'
        : `the cluster does not know InferencePool, which ${names} asks for: requests go to the Service`,
      'Install the CRDs of the Gateway API Inference Extension.',
    );
  } else if (wanting.length > 0 && operators.state === 'read' && picking.length === 0) {
    findings.warning(
      `no operator has an image of an endpoint picker, and ${names} asks for an InferencePool: requests go to the Service`,
      'Set endpointPicker.image in the values of its chart.',
    );
  } else for (const service of wanting) checkPool(service, findings);
  return findings.list;
}

function checkPool(service: KubeObject, findings: Findings): void {
  const { conditions = [] } = (service['status'] ?? {}) as LlmServiceStatus;
  const routed = conditions.find(({ type }) => type === 'Routed');
  // Why there is no route, the checks of services say.
  if (routed?.status !== 'True') return;
  if (routed.reason === 'InferencePool') findings.ok(`${keyOf(service)}: ${routed.message}`);
  else findings.warning(`${keyOf(service)}: Routed=True ${routed.reason}`, routed.message);
}

function wantsPool(service: KubeObject): boolean {
  const { routing } = (service['spec'] ?? {}) as Partial<LlmServiceSpec>;
  return routing?.backend === 'inferencePool';
}
