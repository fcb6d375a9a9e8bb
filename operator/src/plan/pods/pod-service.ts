// A Service for pods of a service: all of them, or those of one revision.

import type { V1ServiceSpec } from '@kubernetes/client-node';
import type { WantedService } from '../../domain/wanted-service.js';
import type { KubeObject } from '../../kube/types.js';
import { childMetadata, servingSelector } from '../identity/child-metadata.js';
import { schemeOf, servicePort } from './container-parts.js';

/** @param labels that the pods have beside the service's */
export function planPodService(
  service: WantedService,
  name: string,
  labels: Readonly<Record<string, string>>,
): KubeObject {
  const scheme = schemeOf(service);
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: childMetadata(service, name),
    spec: {
      type: 'ClusterIP',
      selector: { ...servingSelector(service), ...labels },
      ports: [
        {
          name: scheme,
          port: servicePort(scheme),
          // By name: pods that speak the other one, of a revision before or after, are not sent requests.
          targetPort: scheme,
          protocol: 'TCP',
          appProtocol: scheme,
        },
      ],
    } satisfies V1ServiceSpec,
  };
}
