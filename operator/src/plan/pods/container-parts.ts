// What the containers of a pod have in common, whichever engine serves.

import type { V1Probe, V1VolumeMount } from '@kubernetes/client-node';
import { paths, ports } from '@llmservice/crds';
import { caConfigMap } from '../../resource/store-access.js';
import type { WantedService } from '../../domain/wanted-service.js';

/** Any user will do that is not root; the numeric id lets the kubelet check it. */
export const runtimeUser = 65532;

/** As the Pod Security Standard `restricted` asks for, and nothing to write to but volumes. */
export const restricted = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
};

/** Who ends by a failure writes it there as JSON; where it could not (OOM, bad image), the log's end is kept. */
export const terminationMessage = {
  terminationMessagePath: paths.terminationMessage,
  terminationMessagePolicy: 'FallbackToLogsOnError',
};

/** The pod keeps accepting for this long after it was asked to stop, until endpoints everywhere have forgotten it. */
export const preStopSeconds = 5;

export const keepAccepting = {
  lifecycle: { preStop: { exec: { command: ['/bin/sleep', String(preStopSeconds)] } } },
};

/** What pods speak; also the name of their port and of the Service's. */
export type Scheme = 'http' | 'https';

/** What the pods of a service speak. */
export function schemeOf({ spec }: Pick<WantedService, 'spec'>): Scheme {
  return spec.tls.secretRef === undefined ? 'http' : 'https';
}

/** Of the Service. */
export function servicePort(scheme: Scheme): number {
  return scheme === 'https' ? ports.secureService : ports.service;
}

export interface ProbeTiming {
  readonly periodSeconds: number;
  readonly failureThreshold: number;
}

export function probe(scheme: Scheme, path: string, timing: ProbeTiming): V1Probe {
  return {
    httpGet: { path, port: scheme, scheme: scheme.toUpperCase() },
    timeoutSeconds: 5,
    successThreshold: 1,
    ...timing,
  };
}

/** Certificates of the store's authority, where it has its own. */
export function caMounts({ spec }: Pick<WantedService, 'spec'>): V1VolumeMount[] {
  return caConfigMap(spec) === null ? [] : [{ name: 's3-ca', mountPath: paths.s3Ca, readOnly: true }];
}
