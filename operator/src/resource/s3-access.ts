// How a service's bucket is reached, from spec.model.s3 and the keys among the variables of spec.env (which win, as they
// do in the pod): so that the operator reads with exactly what the pod will read with, and never with its own identity.

import type { EnvVar } from '@llmservice/crds';
import type { WantedService } from '../domain/wanted-service.js';

/** Where a credential is found. */
export type CredentialSource =
  | { readonly kind: 'literal'; readonly value: string }
  | { readonly kind: 'secret'; readonly name: string; readonly key: string };

export interface S3Access {
  /** Null: AWS itself. */
  readonly endpoint: string | null;
  readonly region: string;
  readonly forcePathStyle: boolean;
  /** Null: requests are not signed. */
  readonly credentials: {
    readonly accessKeyId: CredentialSource;
    readonly secretAccessKey: CredentialSource;
  } | null;
  /** ConfigMap with further CA certificates under ca.crt. */
  readonly caConfigMap: string | null;
}

export function s3Access({ spec }: Pick<WantedService, 'spec'>): S3Access {
  const { s3 } = spec.model;
  const env = new Map((spec.env ?? []).map((variable) => [variable.name, variable]));
  const accessKeyId = source(
    env.get('AWS_ACCESS_KEY_ID'),
    s3.credentialsSecretRef?.name,
    'AWS_ACCESS_KEY_ID',
  );
  const secretAccessKey = source(
    env.get('AWS_SECRET_ACCESS_KEY'),
    s3.credentialsSecretRef?.name,
    'AWS_SECRET_ACCESS_KEY',
  );
  return {
    endpoint: s3.endpoint ?? null,
    region: s3.region ?? 'us-east-1',
    forcePathStyle: s3.forcePathStyle,
    credentials: accessKeyId === null || secretAccessKey === null ? null : { accessKeyId, secretAccessKey },
    caConfigMap: s3.caConfigMapRef?.name ?? null,
  };
}

function source(
  variable: EnvVar | undefined,
  secret: string | undefined,
  key: string,
): CredentialSource | null {
  const reference = variable?.valueFrom?.secretKeyRef;
  if (reference !== undefined) return { kind: 'secret', name: reference.name, key: reference.key };
  if (variable?.value !== undefined) return { kind: 'literal', value: variable.value };
  return secret === undefined ? null : { kind: 'secret', name: secret, key };
}
