// A LeaderWorkerSet as the rest of the operator sees what holds a service's pods: as a Deployment whose replicas are its groups.

import type { Deployment, KubeObject } from './types.js';

export interface LeaderWorkerSet extends KubeObject {
  readonly spec?: {
    readonly replicas?: number;
    readonly leaderWorkerTemplate?: {
      readonly size?: number;
      readonly workerTemplate?: NonNullable<Deployment['spec']>['template'];
    };
    readonly rolloutStrategy?: {
      readonly rollingUpdateConfiguration?: {
        readonly maxSurge?: number | string;
        readonly maxUnavailable?: number | string;
      };
    };
  };
  readonly status?: Omit<NonNullable<Deployment['status']>, 'conditions'>;
}

export function asDeployment({ apiVersion, kind, metadata, spec, status = {} }: LeaderWorkerSet): Deployment {
  const { replicas, leaderWorkerTemplate, rolloutStrategy } = spec ?? {};
  const template = leaderWorkerTemplate?.workerTemplate;
  const rollingUpdate = rolloutStrategy?.rollingUpdateConfiguration;
  const { observedGeneration, readyReplicas, updatedReplicas, replicas: groups } = status;
  return {
    ...{ apiVersion, kind, metadata },
    spec: {
      ...(replicas === undefined ? {} : { replicas }),
      ...(template === undefined ? {} : { template }),
      ...(rollingUpdate === undefined ? {} : { strategy: { rollingUpdate } }),
    },
    // What its controller leaves out is 0. Its conditions mean other things than those of Deployments.
    status: {
      ...(observedGeneration === undefined ? {} : { observedGeneration }),
      replicas: groups ?? 0,
      updatedReplicas: updatedReplicas ?? 0,
      readyReplicas: readyReplicas ?? 0,
    },
  };
}
