// The API server, the custom resource in it, and what the person asking may do. Pure.

import { api, llmServiceSchema } from '@llmservice/crds';
import type { ClusterFacts, CustomResourceDefinition } from './facts.js';
import { Findings, listed, type Finding } from './finding.js';
import type { DeniedRequest } from './operator-rules.js';
import { valueOf } from './reading.js';
import { judgeConversion } from './judge-conversion.js';
import { schemaDifferences } from './schema-differences.js';

/** CEL rules of custom resources, which the CRD relies upon, are stable since. */
const oldestMinor = 29;

export function checkApiServer({ server, version }: ClusterFacts): readonly Finding[] {
  const findings = new Findings('api server');
  const minor = /^v?1\.(\d+)/.exec(version)?.[1];
  if (minor !== undefined && Number(minor) < oldestMinor) {
    findings.problem(
      `${version} at ${server}: too old for the rules of the custom resource`,
      `Upgrade to v1.${oldestMinor} or newer.`,
    );
  } else {
    findings.ok(`${version} at ${server}`);
  }
  return findings.list;
}

const installHint = 'Install or upgrade the chart llmservice-operator (crd.install: true).';

export function checkDefinition({ definition, servesOurs }: ClusterFacts): readonly Finding[] {
  const findings = new Findings('custom resource');
  const name = `${api.plural}.${api.group}`;
  if (definition.state === 'forbidden') {
    const served = valueOf(servesOurs, `discovery of ${api.groupVersion}`, findings);
    if (served === true) {
      findings.info(`${api.groupVersion} is served; whether with the schema of this build, you may not read`);
    } else if (served === false) {
      findings.problem(`the API does not serve ${api.groupVersion}`, installHint);
    }
    return findings.list;
  }
  const found = valueOf(definition, name, findings);
  if (found === null) {
    if (definition.state === 'read')
      findings.problem(`there is no CustomResourceDefinition ${name}`, installHint);
    return findings.list;
  }
  judgeDefinition(found, name, findings);
  return findings.list;
}

function judgeDefinition({ spec, status }: CustomResourceDefinition, name: string, findings: Findings): void {
  const version = spec?.versions?.find((each) => each.name === api.version);
  if (version?.served !== true) {
    const versions = (spec?.versions ?? []).filter(({ served }) => served).map((each) => each.name);
    findings.problem(`${name} serves ${listed(versions)} and not ${api.version}`, installHint);
    return;
  }
  const refused = status?.conditions?.find((each) => each.type === 'Established' && each.status !== 'True');
  if (refused !== undefined)
    findings.problem(`${name} is not established: ${refused.message ?? ''}`, installHint);
  judgeConversion(spec, name, findings);
  const { missing, unknown, changed } = schemaDifferences(
    llmServiceSchema,
    version.schema?.openAPIV3Schema ?? {},
  );
  if (missing.length > 0) {
    findings.problem(
      `${name} does not know ${listed(missing)}, which this build does: the cluster drops such fields`,
      'Upgrade the chart llmservice-operator to the version of this command.',
    );
  }
  if (unknown.length + changed.length > 0) {
    const parts = [
      unknown.length > 0 ? `it has ${listed(unknown)} besides` : '',
      changed.length > 0 ? `it has other types, bounds or defaults for ${listed(changed)}` : '',
    ];
    findings.warning(
      `${name} is of another version than this build: ${parts.filter((part) => part !== '').join('; ')}`,
      'Use the version of this command that was installed with the chart.',
    );
  }
  if (findings.list.length === 0) findings.ok(`${name} serves ${api.version} with the fields of this build`);
}

export function checkPerson({ deniedToPerson, namespace }: ClusterFacts): readonly Finding[] {
  const findings = new Findings('permissions');
  const denied = valueOf(deniedToPerson, 'your own permissions', findings);
  if (denied === null) return findings.list;
  for (const [purpose, requests] of byPurpose(denied)) {
    findings.warning(
      `you may not ${describeRequests(requests)} in ${namespace} (${purpose})`,
      'Ask whoever administers the cluster for these rights, if it is your job.',
    );
  }
  if (denied.length === 0)
    findings.ok(`you may deploy, watch, log, chat with and drain services in ${namespace}`);
  return findings.list;
}

function byPurpose(denied: readonly DeniedRequest[]): Map<string, DeniedRequest[]> {
  const groups = new Map<string, DeniedRequest[]>();
  for (const request of denied)
    groups.set(request.purpose, [...(groups.get(request.purpose) ?? []), request]);
  return groups;
}

/** `get, list pods; create pods/eviction`. */
export function describeRequests(requests: readonly DeniedRequest[]): string {
  const verbs = new Map<string, string[]>();
  for (const { group, resource, verb } of requests) {
    const name = group === '' ? resource : `${resource}.${group}`;
    verbs.set(name, [...(verbs.get(name) ?? []), verb]);
  }
  return [...verbs].map(([name, list]) => `${list.join(', ')} ${name}`).join('; ');
}
