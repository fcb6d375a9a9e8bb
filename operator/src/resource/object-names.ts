// Names of Secrets and ConfigMaps. The schema takes any text; one that is no object's name would be a part of a path in
// the API, where "." is the whole list.

import type { LlmServiceSpec, Violation } from '@llmservice/crds';

/** DNS subdomains, as Kubernetes has them; how long they may be is in the schema. */
const objectName = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/;

export function objectNameViolations({
  model,
  env = [],
  auth,
  tls,
  administration,
}: LlmServiceSpec): Violation[] {
  const references: readonly (readonly [string, { readonly name: string } | undefined])[] = [
    ['spec.model.s3.credentialsSecretRef', model.s3.credentialsSecretRef],
    ['spec.model.s3.caConfigMapRef', model.s3.caConfigMapRef],
    ['spec.model.hub.tokenSecretRef', model.hub.tokenSecretRef],
    ['spec.model.hub.caConfigMapRef', model.hub.caConfigMapRef],
    ['spec.model.oci.credentialsSecretRef', model.oci.credentialsSecretRef],
    ['spec.model.oci.caConfigMapRef', model.oci.caConfigMapRef],
    ['spec.model.list.tokenSecretRef', model.list.tokenSecretRef],
    ['spec.model.list.caConfigMapRef', model.list.caConfigMapRef],
    ['spec.auth.keysSecretRef', auth.keysSecretRef],
    ['spec.tls.secretRef', tls.secretRef],
    ['spec.tls.caConfigMapRef', tls.caConfigMapRef],
    ['spec.administration.keysSecretRef', administration?.keysSecretRef],
    ...env.flatMap(({ valueFrom }, index) => [
      [`spec.env[${index}].valueFrom.secretKeyRef`, valueFrom?.secretKeyRef] as const,
      [`spec.env[${index}].valueFrom.configMapKeyRef`, valueFrom?.configMapKeyRef] as const,
    ]),
  ];
  return references.flatMap(([path, reference]) =>
    reference === undefined || objectName.test(reference.name)
      ? []
      : [
          {
            path: `${path}.name`,
            message: 'is no name: lower-case letters, digits, "-" and "." between them',
          },
        ],
  );
}
