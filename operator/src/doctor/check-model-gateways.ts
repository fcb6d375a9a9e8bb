// Gateways of models one by one: their spec, their conditions, and the models that nobody answers for. Pure.

import { failureKinds, gatewayApi, type LlmGatewayStatus } from '@llmservice/crds';
import { keyOf } from '../kube/resources.js';
import type { KubeObject } from '../kube/types.js';
import { parseGateway } from '../resource/parse-gateway.js';
import { gatewayTroubles, unansweredModels } from '../status/gateway-troubles.js';
import type { ClusterFacts } from './facts.js';
import { counted, Findings, listed, type Finding } from './finding.js';
import { valueOf } from './reading.js';

export function checkModelGateways({ modelGateways, namespace, service }: ClusterFacts): readonly Finding[] {
  const findings = new Findings('gateways of models');
  const found = valueOf(modelGateways, `gateways of models of ${namespace}`, findings);
  if (modelGateways.state !== 'read') return findings.list;
  if (found === null) {
    findings.info(
      `the cluster does not know ${gatewayApi.kind}`,
      'To have many models behind one address, upgrade the chart llmservice-operator, which brings it.',
    );
    return findings.list;
  }
  for (const gateway of found) if (service === null || leadsTo(gateway, service)) check(gateway, findings);
  return findings.list;
}

function check(gateway: KubeObject, findings: Findings): void {
  const key = keyOf(gateway);
  const parsed = parseGateway(gateway);
  if (!parsed.ok) {
    const list = parsed.violations.map(({ path, message }) => `${path} ${message}`.trim());
    findings.problem(`${key}: ${list.join('; ')}`, failureKinds.InvalidSpec.remedy);
    return;
  }
  const status = statusOf(gateway);
  const { generation = 0 } = gateway.metadata;
  if ((status.observedGeneration ?? 0) < generation) {
    findings.problem(
      `${key}: the operator has not processed its generation ${generation}`,
      'See the checks of the operator above: it must be there, lead, and serve this namespace.',
    );
    return;
  }
  const found = gatewayTroubles(status);
  for (const { type, status: state, reason, message } of found) {
    // No router was asked for.
    const level = reason === 'Stopped' ? 'info' : state === 'Unknown' ? 'warning' : 'problem';
    findings[level](`${key}: ${type}=${state} ${reason}`, message);
  }
  const unanswered = unansweredModels(status);
  if (unanswered.length > 0) {
    findings.warning(
      `${key}: no pod answers for ${listed(unanswered)}`,
      'See the conditions of the services.',
    );
  }
  if (found.length + unanswered.length > 0) return;
  findings.ok(
    `${key}: ready, ${counted(status.modelCount ?? 0, 'model')} by ${status.url ?? status.address}`,
  );
}

/** Whether a service answers for a model of it, or is to. */
function leadsTo(gateway: KubeObject, service: string): boolean {
  const spec = (gateway['spec'] ?? {}) as { readonly models?: readonly { readonly service?: string }[] };
  return [...(statusOf(gateway).models ?? []), ...(spec.models ?? [])].some(
    (model) => model.service === service,
  );
}

function statusOf(gateway: KubeObject): LlmGatewayStatus {
  return gateway['status'] ?? {};
}
