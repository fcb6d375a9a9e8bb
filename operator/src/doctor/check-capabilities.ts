// What services may make use of: APIs of metrics, and a StorageClass. Information, since nothing needs them. Pure.

import type { ClusterFacts } from './facts.js';
import { Findings, type Finding } from './finding.js';
import { valueOf } from './reading.js';

const metricApis = [
  { group: 'metrics.k8s.io', is: 'CPU and memory of pods (metrics-server): kubectl top' },
  { group: 'custom.metrics.k8s.io', is: 'custom metrics: HPA on metrics of pods' },
  { group: 'external.metrics.k8s.io', is: 'external metrics: HPA on metrics from elsewhere' },
  { group: 'keda.sh', is: 'KEDA: scaling by queries' },
  { group: 'monitoring.coreos.com', is: 'Prometheus operator: PodMonitors' },
];

export function checkMetrics({ groups }: ClusterFacts): readonly Finding[] {
  const findings = new Findings('metrics');
  // Where groups are not readable, the check of gateways has said so.
  if (groups.state !== 'read') return [];
  for (const { group, is } of metricApis) {
    findings.info(`${groups.value.includes(group) ? 'there is' : 'there is no'} ${group} (${is})`);
  }
  return findings.list;
}

const groupApi = 'leaderworkerset.x-k8s.io';

/** What replicas on several nodes take. */
export function checkNodeGroups({ groups }: ClusterFacts): readonly Finding[] {
  const findings = new Findings('nodes');
  // Where groups are not readable, the check of gateways has said so.
  if (groups.state !== 'read') return [];
  if (groups.value.includes(groupApi)) findings.info(`there is ${groupApi} (replicas on several nodes)`);
  else findings.info(`there is no ${groupApi} (LeaderWorkerSet: replicas on several nodes)`);
  return findings.list;
}

const defaultClass = 'storageclass.kubernetes.io/is-default-class';

export function checkStorage({ storageClasses }: ClusterFacts): readonly Finding[] {
  const findings = new Findings('storage');
  const found = valueOf(storageClasses, 'StorageClasses', findings);
  if (found === null) return findings.list;
  const defaults = found.filter(({ metadata }) => metadata.annotations?.[defaultClass] === 'true');
  const names = defaults.map(({ metadata }) => metadata.name).join(', ');
  if (defaults.length === 0) findings.info('there is no default StorageClass: claims must name theirs');
  else if (defaults.length === 1) findings.info(`the default StorageClass is ${names}`);
  else
    findings.warning(
      `there are several default StorageClasses: ${names}`,
      'Leave the annotation on one of them.',
    );
  return findings.list;
}
