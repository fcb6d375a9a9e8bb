// The operator: installed once, ready, of this build's version, with a leader at work and the rights that it needs. Pure.

import { fieldManager } from '@llmservice/crds';
import { describeRequests } from './check-api.js';
import type { Deployment } from '../kube/types.js';
import type { ClusterFacts, Lease, OperatorFacts } from './facts.js';
import { Findings, listed, type Finding } from './finding.js';
import { valueOf } from './reading.js';

/** @param version of this build */
export function checkOperators(
  { operators, activators, now }: ClusterFacts,
  version: string,
): readonly Finding[] {
  const findings = new Findings('operator');
  const found = valueOf(operators, 'the operator (--operator-namespace says where it is)', findings);
  if (found === null) return findings.list;
  if (found.length === 0) {
    findings.problem(
      `no Deployment has the label app.kubernetes.io/name=${fieldManager}`,
      'Install the chart llmservice-operator, or name its namespace with --operator-namespace.',
    );
  }
  for (const rivals of rivalsAmong(found)) {
    findings.problem(
      `${listed(rivals.map(nameOf))} serve the same namespaces: they undo each other's work`,
      'Remove all but one, or give each its own watchNamespace.',
    );
  }
  for (const operator of found) {
    checkDeployment(operator, version, findings);
    checkLease(operator, now, findings);
    checkRights(operator, findings);
  }
  // Whoever may read the one Deployment may read the other.
  if (activators.state === 'read') checkActivators(activators.value, findings);
  return findings.list;
}

/** Groups that serve the same namespace; one that serves all is everyone's rival. */
function rivalsAmong(operators: readonly OperatorFacts[]): (readonly OperatorFacts[])[] {
  if (operators.some(({ settings }) => settings.watchNamespaces === null)) {
    return operators.length > 1 ? [operators] : [];
  }
  const groups = new Map<string, readonly OperatorFacts[]>();
  for (const namespace of operators.flatMap(({ settings }) => settings.watchNamespaces ?? [])) {
    const group = operators.filter(({ settings }) => settings.watchNamespaces?.includes(namespace));
    // Two that share several namespaces are reported once.
    if (group.length > 1) groups.set(group.map(nameOf).join(), group);
  }
  return [...groups.values()];
}

function checkActivators(activators: readonly Deployment[], findings: Findings): void {
  if (activators.length === 0) findings.info('there is no activator: no service falls asleep');
  for (const { metadata, spec, status } of activators) {
    const name = `${metadata.namespace ?? ''}/${metadata.name}`;
    const [ready, wanted] = [status?.readyReplicas ?? 0, spec?.replicas ?? 1];
    if (ready > 0) findings.ok(`activator ${name}: ${ready} of ${wanted} pods are ready`);
    else {
      findings.problem(
        `activator ${name} has no pod that is ready: services that are asleep stay so`,
        `Look at its pods: kubectl get pods -n ${metadata.namespace ?? ''}, and at their logs.`,
      );
    }
  }
}

function nameOf({ deployment }: OperatorFacts): string {
  return `${deployment.metadata.namespace ?? ''}/${deployment.metadata.name}`;
}

function checkDeployment(operator: OperatorFacts, version: string, findings: Findings): void {
  const { spec, status, metadata } = operator.deployment;
  const name = nameOf(operator);
  const wanted = spec?.replicas ?? 1;
  const ready = status?.readyReplicas ?? 0;
  const scope = operator.settings.watchNamespaces?.join(', ') ?? 'every namespace';
  const look = `Look at its pods: kubectl get pods -n ${metadata.namespace ?? ''}, and at their logs.`;
  if (ready === 0) findings.problem(`${name} has no pod that is ready, of ${wanted}`, look);
  else if (ready < wanted) findings.warning(`${name}: ${ready} of ${wanted} pods are ready`, look);
  else findings.ok(`${name}: ${ready} of ${wanted} pods are ready; serves ${scope}`);

  const installed = metadata.labels?.['app.kubernetes.io/version'];
  if (installed !== undefined && installed !== version) {
    findings.warning(
      `${name} is of version ${installed}, this command of ${version}`,
      'Use the command of the same version: plans and checks of another may differ from what the operator does.',
    );
  }
}

function checkLease(operator: OperatorFacts, now: Date, findings: Findings): void {
  const name = nameOf(operator);
  const lease = valueOf(operator.lease, `Lease of ${name}`, findings);
  if (operator.lease.state !== 'read') return;
  const age = leaseAge(lease, now);
  if (age === null) {
    findings.problem(`${name} has no leader: nobody reconciles`, 'Look at the logs of its pods.');
    return;
  }
  const { holderIdentity = '', leaseDurationSeconds = 15 } = lease?.spec ?? {};
  const pods = valueOf(operator.pods, `pods of ${name}`, findings);
  if (age > leaseDurationSeconds) {
    findings.problem(
      `the leader of ${name}, ${holderIdentity}, has not renewed its Lease for ${Math.round(age)} s: nobody reconciles`,
      'Look at its pods and their logs; the others take over once they can reach the API server.',
    );
  } else if (pods !== null && !pods.includes(holderIdentity)) {
    findings.problem(
      `${name} is not at work: ${holderIdentity}, which is none of its pods, holds its Lease ` +
        operator.settings.leaseName,
      'If no pod of it has just ended, another operator uses the same Lease: give one of the two a Lease of its own by ' +
        "the chart's value instance.",
    );
  } else {
    findings.ok(
      `${name} is led by ${holderIdentity}, which renewed its Lease ${Math.max(0, Math.round(age))} s ago`,
    );
  }
}

/** Seconds; null: nobody holds it. */
function leaseAge(lease: Lease | null, now: Date): number | null {
  const { holderIdentity = '', renewTime } = lease?.spec ?? {};
  if (holderIdentity === '' || renewTime === undefined) return null;
  return (now.getTime() - Date.parse(renewTime)) / 1000;
}

function checkRights(operator: OperatorFacts, findings: Findings): void {
  const name = nameOf(operator);
  const denied = valueOf(operator.denied, `permissions of ${name}`, findings);
  if (denied === null) return;
  if (denied.length === 0) {
    findings.ok(`${name} may all that its chart grants (as ${operator.settings.serviceAccount})`);
  } else {
    findings.problem(
      `${name} may not ${describeRequests(denied)}`,
      'Upgrade the chart llmservice-operator, or restore its roles and their bindings.',
    );
  }
}
