// How a gateway of the Gateway API speaks to the pods of a service that serve HTTPS: verified by the authorities of the
// service's ConfigMap, under the name of its Service. Of other services, such as a fallback, it says nothing.

import { resources } from '../../kube/resources.js';
import type { KubeObject } from '../../kube/types.js';
import type { WantedService } from '../../domain/wanted-service.js';
import { canaryName } from '../../kube/canary-name.js';
import { childMetadata } from '../identity/child-metadata.js';
import { podHostname } from './pod-authority.js';

/** Empty: the pods speak plain HTTP. @param hasCanary whose Service is asked in the same way */
export function planBackendTlsPolicy(service: WantedService, hasCanary: boolean): KubeObject[] {
  const { secretRef, caConfigMapRef } = service.spec.tls;
  if (secretRef === undefined || caConfigMapRef === undefined) return [];
  const { apiVersion, kind } = resources.backendTlsPolicies;
  return [
    {
      apiVersion,
      kind,
      metadata: childMetadata(service, service.name),
      spec: {
        targetRefs: [service.name, ...(hasCanary ? [canaryName(service.name)] : [])].map((name) => ({
          group: '',
          kind: 'Service',
          name,
        })),
        validation: {
          caCertificateRefs: [{ group: '', kind: 'ConfigMap', name: caConfigMapRef.name }],
          hostname: podHostname(service),
        },
      },
    },
  ];
}
