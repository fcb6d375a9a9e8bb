// What holds the pods of a service whose ranks are on several nodes: a LeaderWorkerSet, each group of which is one replica. A
// pod that is lost takes its group with it, since the ranks of the others cannot continue without its ranks.

import type { V1ServiceSpec } from '@kubernetes/client-node';
import { groupLabels } from '@llmservice/crds';
import type { WantedService } from '../domain/wanted-service.js';
import { groupSetName } from '../kube/group-set-name.js';
import { resources } from '../kube/resources.js';
import type { KubeObject } from '../kube/types.js';
import { childMetadata } from './identity/child-metadata.js';
import type { PlannedTemplate } from './pods/planned-template.js';
import { replacements, type Replacement } from './rollouts/replacement.js';

interface GroupInputs {
  readonly template: PlannedTemplate;
  /** Groups. */
  readonly replicas: number;
  readonly replacement: Replacement;
  /** Of the object, beside those of every child. */
  readonly notes: Readonly<Record<string, string>>;
}

/** A new revision replaces its template, and LWS's own controller then replaces group by group. */
export function planLeaderWorkerSet(
  service: WantedService,
  { template, replicas, replacement, notes }: GroupInputs,
): KubeObject {
  const { apiVersion, kind } = resources.leaderWorkerSets;
  return {
    apiVersion,
    kind,
    metadata: { ...childMetadata(service, groupSetName(service.name)), annotations: { ...notes } },
    spec: {
      replicas,
      startupPolicy: 'LeaderCreated',
      networkConfig: { subdomainPolicy: 'Shared' },
      rolloutStrategy: {
        type: 'RollingUpdate',
        rollingUpdateConfiguration: { partition: 0, ...replacements[replacement] },
      },
      leaderWorkerTemplate: {
        size: service.nodes,
        restartPolicy: 'RecreateGroupOnPodRestart',
        workerTemplate: template.pod,
      },
    },
  };
}

/** LWS makes it where it is not there; planned here, a name that somebody else has is noticed. */
export function planGroupService(service: WantedService): KubeObject[] {
  if (service.nodes === 1) return [];
  const name = groupSetName(service.name);
  return [
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: childMetadata(service, name),
      spec: {
        clusterIP: 'None',
        selector: { [groupLabels.set]: name },
        // Ranks find each other before any of them is ready.
        publishNotReadyAddresses: true,
      } satisfies V1ServiceSpec,
    },
  ];
}
