// Services one by one: what they name that is missing, whether their bucket can be read, which nodes can take their pods,
// and what their conditions say. Pure.

import {
  api,
  failureKinds,
  type Condition,
  type ConditionType,
  type LlmServiceStatus,
} from '@llmservice/crds';
import { keyOf } from '../kube/resources.js';
import type { PreflightResult } from '../domain/checkpoint.js';
import { resolveClass } from '../plan/class/resolve-class.js';
import { troubles } from '../status/troubles.js';
import { nodeDevices } from './check-nodes.js';
import { checkPlacement } from './check-placement.js';
import { classesOf } from './class-facts.js';
import type { ClusterFacts, ServiceFacts } from './facts.js';
import { Findings, type Finding } from './finding.js';
import { valueOf } from './reading.js';
import { missingKeys } from './references.js';

export function checkServices(facts: ClusterFacts): readonly Finding[] {
  const findings = new Findings('services');
  const services = valueOf(facts.services, `services of ${facts.namespace}`, findings);
  if (services === null) return findings.list;
  if (services.length === 0 && facts.service === null) {
    findings.info(`there is no ${api.kind} in ${facts.namespace}`);
  } else if (services.length === 0) {
    findings.problem(
      `there is no ${api.kind} ${facts.service ?? ''} in ${facts.namespace}`,
      'Name its namespace with -n; kubectl llm status -A lists all.',
    );
  }
  const nodes = nodeDevices(facts);
  const classes = classesOf(facts.serviceClasses);
  for (const service of services) {
    const key = keyOf(service.object);
    const parsed = resolveClass(service.object, classes);
    if (!parsed.ok && facts.serviceClasses.state !== 'read' && parsed.serviceClass.state === 'refused') {
      valueOf(facts.serviceClasses, `${key}: its class`, findings);
      checkConditions(key, service, facts.now, findings);
      continue;
    }
    if (!parsed.ok) {
      const list = parsed.violations.map(({ path, message }) => `${path} ${message}`.trim());
      findings.problem(`${key}: ${list.join('; ')}`, failureKinds.InvalidSpec.remedy);
      continue;
    }
    checkReferences(key, service, findings);
    checkCheckpoint(key, service, findings);
    checkPlacement(parsed.service, nodes, findings);
    checkConditions(key, service, facts.now, findings);
  }
  return findings.list;
}

function checkReferences(key: string, { references }: ServiceFacts, findings: Findings): void {
  for (const [reference, reading] of references) {
    const { kind, name, field } = reference;
    const object = valueOf(reading, `${key}: ${kind} ${name} (${field})`, findings);
    if (reading.state !== 'read') continue;
    if (object === null) {
      findings.problem(
        `${key}: the ${kind} ${name} (${field}) does not exist`,
        `Create it in the service's namespace.`,
      );
      continue;
    }
    const missing = missingKeys(reference, object.keys);
    if (missing.length > 0) {
      findings.problem(
        `${key}: the ${kind} ${name} (${field}) has no key ${missing.join(', ')}`,
        `Add it; there ${object.keys.length === 0 ? 'is none' : `are ${object.keys.join(', ')}`}.`,
      );
    }
  }
}

/** What is reported by a failure of the store, rather than by what is in it. */
const storeReasons: readonly string[] = [
  ...['BucketNotFound', 'S3AccessDenied', 'S3RegionMismatch', 'S3CertificateUntrusted', 'SecretNotAllowed'],
  ...['RepositoryNotFound', 'HubAccessDenied', 'HubCertificateUntrusted'],
  ...['ClaimNotFound', 'ClaimUnusable'],
  ...['ArtifactNotFound', 'RegistryAccessDenied', 'RegistryCertificateUntrusted'],
  ...['ListNotFound', 'ListUnsupported', 'ListAccessDenied', 'ListCertificateUntrusted'],
];

function checkCheckpoint(key: string, { object, checkpoint }: ServiceFacts, findings: Findings): void {
  if (checkpoint === null) return;
  const uri = (object['spec'] as { model: { uri: string } }).model.uri;
  const result = valueOf<PreflightResult>(checkpoint, `${key}: ${uri}`, findings);
  if (result === null) return;
  if (result.state === 'resolved') {
    const { claim } = result.checkpoint;
    if (claim !== undefined) {
      findings.info(
        `${key}: ${uri} is read by pods alone. ${claim.found}`,
        'Its pods judge what lies there.',
      );
      return;
    }
    findings.ok(`${key}: ${uri} was read from this machine with the service's own keys`);
    return;
  }
  const { reason, message } = result.failure;
  const { remedy } = failureKinds[reason];
  if (result.state === 'unavailable') {
    const seen =
      conditionOf(object['status'], 'ModelResolved') === 'True' ? ' The operator has read it.' : '';
    findings.warning(
      `${key}: from this machine (pods may be better placed) ${message}.${seen}`,
      `If the service does not load: ${remedy}`,
    );
  } else {
    const store = placeWords(uri);
    const what = storeReasons.includes(reason) ? store : 'checkpoint';
    findings.problem(`${key}: ${what}, read from this machine: ${reason}: ${message}`, remedy);
  }
}

function placeWords(uri: string): string {
  if (uri.startsWith('pvc:')) return 'claim';
  if (/^https?:/.test(uri)) return 'list';
  return /^(hf|oci):/.test(uri) ? 'repository' : 'bucket';
}

function checkConditions(key: string, { object }: ServiceFacts, now: Date, findings: Findings): void {
  const status = (object['status'] ?? {}) as LlmServiceStatus;
  const { generation = 0 } = object.metadata;
  if ((status.observedGeneration ?? 0) < generation) {
    findings.problem(
      `${key}: the operator has not processed its generation ${generation}`,
      'See the checks of the operator above: it must be there, lead, and serve this namespace.',
    );
    return;
  }
  const found = troubles(status);
  const excused = excusedTypes(status, now);
  for (const { type, status: state, reason, message } of found) {
    const level = state === 'Unknown' ? 'warning' : 'problem';
    findings[excused.includes(type) ? 'info' : level](`${key}: ${type}=${state} ${reason}`, message);
  }
  if (found.length === 0) findings.ok(`${key}: ready`);
}

/** Reasons of Ready where its owner wants no pods. */
const atRest: readonly string[] = ['Stopped', 'ScaledToZero'];
/** And where they are on their way. */
const underWay: readonly string[] = [
  'NoPods',
  'Scheduling',
  'NotStarted',
  'Starting',
  'Pulling',
  'Loading',
  'ReplicasStarting',
];
/** How long nothing may change on that way; images and nodes may take as long to come. */
const stuckMs = 30 * 60_000;
const aboutCheckpoint: readonly ConditionType[] = ['ModelResolved', 'Fits'];
const aboutPods: readonly ConditionType[] = ['Scheduled', 'Loaded', 'Serving', 'Ready'];

/** Types of conditions that are no matter of worry, since pods are not wanted or come as they should. */
function excusedTypes(status: LlmServiceStatus, now: Date): readonly string[] {
  const { conditions = [], lastFailure } = status;
  const reason = conditions.find(({ type }) => type === 'Ready')?.reason ?? '';
  const comes = underWay.includes(reason) && lastFailure === undefined && moves(status, now);
  const isRead = conditions.some(
    (each) => each.type === 'ModelResolved' && each.reason === 'Reading' && isRecent(each, now),
  );
  const waits = isRead && reason === 'Reading' && lastFailure === undefined;
  return [
    ...(isRead ? aboutCheckpoint : []),
    ...(waits || comes || atRest.includes(reason) ? aboutPods : []),
  ];
}

/** Whether pods get on. A load that does not is ended by the runtime. */
function moves({ conditions = [], loading }: LlmServiceStatus, now: Date): boolean {
  if (loading !== undefined) return true;
  // Ready alone does not say: where a service was stopped before, it has been False since then.
  const relevant: readonly string[] = [...aboutPods, 'Reconciling'];
  return conditions.some((each) => relevant.includes(each.type) && isRecent(each, now));
}

const isRecent = ({ lastTransitionTime }: Condition, now: Date): boolean =>
  now.getTime() - Date.parse(lastTransitionTime) < stuckMs;

function conditionOf(status: unknown, type: string): string | undefined {
  return (status as LlmServiceStatus | undefined)?.conditions?.find((each) => each.type === type)?.status;
}
