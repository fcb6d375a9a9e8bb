// Every Secret that a service names, with what for: each is checked before the operator reads it or has a pod mount it.

import type { LlmServiceSpec, SecretPurpose } from '@llmservice/crds';

export interface SecretUse {
  readonly name: string;
  /** `imagePull`: the kubelet alone reads it, and only what has the type for that. */
  readonly purpose: SecretPurpose | 'imagePull';
  /** The field that names it. */
  readonly field: string;
}

type Spec = Pick<LlmServiceSpec, 'model' | 'auth' | 'tls' | 'administration' | 'env' | 'imagePullSecrets'>;

export function secretUses({
  model,
  auth,
  tls,
  administration,
  env = [],
  imagePullSecrets = [],
}: Spec): SecretUse[] {
  const fields: readonly (readonly [string, SecretUse['purpose'], { readonly name: string } | undefined])[] =
    [
      ['spec.model.s3.credentialsSecretRef', 's3', model.s3.credentialsSecretRef],
      ['spec.model.hub.tokenSecretRef', 'hub', model.hub.tokenSecretRef],
      ['spec.model.oci.credentialsSecretRef', 'oci', model.oci.credentialsSecretRef],
      ['spec.model.list.tokenSecretRef', 'list', model.list.tokenSecretRef],
      ['spec.auth.keysSecretRef', 'keys', auth.keysSecretRef],
      ['spec.administration.keysSecretRef', 'administration', administration?.keysSecretRef],
      ['spec.tls.secretRef', 'tls', tls.secretRef],
      ...env.map(
        ({ name, valueFrom }) =>
          [`spec.env ${name}`, name.startsWith('AWS_') ? 's3' : 'env', valueFrom?.secretKeyRef] as const,
      ),
      ...imagePullSecrets.map((reference) => ['spec.imagePullSecrets', 'imagePull', reference] as const),
    ];
  return fields.flatMap(([field, purpose, reference]) =>
    reference === undefined ? [] : [{ field, purpose, name: reference.name }],
  );
}
