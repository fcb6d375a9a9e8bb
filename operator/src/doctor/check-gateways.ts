// What carries routes: Gateway API and istio as far as they are installed, and the gateways that operators name. Pure.

import type { ObjectCondition } from '../kube/types.js';
import type { Gateway } from '../plan/traffic/routing.js';
import type { ClusterFacts, GatewayObject, OperatorFacts } from './facts.js';
import { Findings, listed, type Finding } from './finding.js';
import { valueOf } from './reading.js';

const gatewayGroup = 'gateway.networking.k8s.io';
const istioGroup = 'networking.istio.io';

export function checkGateways({ groups, gatewayClasses, operators }: ClusterFacts): readonly Finding[] {
  const findings = new Findings('gateways');
  const served = valueOf(groups, 'API groups', findings);
  if (served === null) return findings.list;
  const gatewayApi = served.includes(gatewayGroup);
  const istio = served.includes(istioGroup);
  const found = operators.state === 'read' ? operators.value : [];
  if (gatewayApi) checkClasses(gatewayClasses, findings);
  findings.info(
    `Gateway API ${gatewayApi ? 'is' : 'is not'} installed, istio ${istio ? 'is' : 'is not'}` +
      (gatewayApi || istio ? '' : ': services answer inside the cluster alone'),
  );
  for (const operator of found) {
    const { gateway, istioGateway } = operator.settings;
    if (gateway !== null && !gatewayApi) {
      findings.problem(
        `the operator is to use the Gateway ${nameOf(gateway)}, and the Gateway API is not installed`,
        'Install the Gateway API (its CRDs and a controller).',
      );
    } else if (gateway !== null) checkGateway(gateway, operator, findings);
    if (istioGateway !== null) checkIstio(istioGateway, operator, istio, findings);
    if (gateway === null && istioGateway === null && (gatewayApi || istio)) {
      findings.info(
        'the operator has no gateway: services with routing.host get no route',
        'Set gateway.name and gateway.namespace, or istio.gateway, in the values of its chart.',
      );
    }
  }
  return findings.list;
}

function checkClasses(classes: ClusterFacts['gatewayClasses'], findings: Findings): void {
  const found = valueOf(classes, 'GatewayClasses', findings);
  if (found === null) return;
  if (found.length === 0) {
    findings.warning(
      'there is no GatewayClass: no controller of the Gateway API is at work',
      'Install one, such as Envoy Gateway or istio.',
    );
  }
  const refused = found.filter(({ status }) => stateOf(status?.conditions, 'Accepted') !== 'True');
  const accepted = found.filter((each) => !refused.includes(each));
  if (accepted.length > 0) {
    findings.ok(`GatewayClass ${listed(accepted.map(({ metadata }) => metadata.name))} is accepted`);
  }
  for (const { metadata, status } of refused) {
    findings.warning(
      `GatewayClass ${metadata.name} is not accepted: ${messageOf(status?.conditions, 'Accepted')}`,
      'Check that its controller runs.',
    );
  }
}

function checkGateway(wanted: Gateway, operator: OperatorFacts, findings: Findings): void {
  const name = nameOf(wanted);
  if (operator.gateway === null) return;
  const gateway = valueOf(operator.gateway, `Gateway ${name}`, findings);
  if (operator.gateway.state !== 'read') return;
  if (gateway === null) {
    findings.problem(
      `there is no Gateway ${name}, which the operator attaches routes to`,
      'Create it, or name another one in the values of its chart.',
    );
    return;
  }
  const conditions = gateway.status?.conditions;
  const bad = ['Accepted', 'Programmed'].find((type) => stateOf(conditions, type) !== 'True');
  if (bad !== undefined) {
    findings.problem(
      `Gateway ${name} is not ${bad}: ${messageOf(conditions, bad)}`,
      `Look at kubectl describe gateway ${wanted.name} -n ${wanted.namespace}, and at its controller.`,
    );
    return;
  }
  checkClassOf(gateway, operator, findings);
  findings.ok(`Gateway ${name} is accepted and programmed`);
}

function checkClassOf(gateway: GatewayObject, operator: OperatorFacts, findings: Findings): void {
  const name = gateway.spec?.gatewayClassName ?? '';
  if (operator.gatewayClass?.state !== 'read' || operator.gatewayClass.value !== null) return;
  findings.problem(
    `GatewayClass ${name} of the Gateway ${gateway.metadata.name} does not exist`,
    'Create it, or install the controller that brings it.',
  );
}

function checkIstio(wanted: Gateway, operator: OperatorFacts, installed: boolean, findings: Findings): void {
  const name = nameOf(wanted);
  if (!installed) {
    findings.problem(
      `the operator is to use the istio Gateway ${name}, and istio is not installed`,
      'Install istio.',
    );
    return;
  }
  if (operator.istioGateway === null) return;
  const gateway = valueOf(operator.istioGateway, `istio Gateway ${name}`, findings);
  if (operator.istioGateway.state !== 'read') return;
  if (gateway === null) {
    findings.problem(
      `there is no istio Gateway ${name}, which the operator attaches routes to`,
      'Create it, or name another one in the values of its chart (istio.gateway).',
    );
  } else {
    findings.ok(`istio Gateway ${name} exists`);
  }
}

function nameOf({ namespace, name }: Gateway): string {
  return `${namespace}/${name}`;
}

function stateOf(conditions: readonly ObjectCondition[] | undefined, type: string): string {
  return conditions?.find((condition) => condition.type === type)?.status ?? 'Unknown';
}

function messageOf(conditions: readonly ObjectCondition[] | undefined, type: string): string {
  const found = conditions?.find((condition) => condition.type === type);
  return found?.message ?? found?.reason ?? 'its controller has not answered';
}
