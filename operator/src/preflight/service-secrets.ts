// Reads what a service gives for reaching its bucket: the keys in its Secret, the certificates in its ConfigMap.

import { FailureError } from '@llmservice/crds';
import type { KubeClient } from '../kube/client.js';
import { objectPath, resources } from '../kube/resources.js';
import type { CredentialSource, S3Access } from '../spec/s3-access.js';
import type { S3Credentials } from './s3-files.js';

type Data = Readonly<Record<string, string>>;

export interface SecretsOfBucket {
  readonly credentials: S3Credentials | null;
  readonly certificates: string | null;
}

export class ServiceSecrets {
  constructor(private readonly client: Pick<KubeClient, 'find'>) {}

  /** @throws FailureError where what the service gives for reaching its bucket is not there */
  async of(namespace: string, access: S3Access): Promise<SecretsOfBucket> {
    return {
      credentials: await this.credentials(namespace, access.credentials),
      certificates: await this.certificates(namespace, access.caConfigMap),
    };
  }

  /** @throws FailureError S3AccessDenied where the Secret or a key of it is missing */
  private async credentials(
    namespace: string,
    wanted: S3Access['credentials'],
  ): Promise<S3Credentials | null> {
    if (wanted === null) return null;
    return {
      accessKeyId: await this.value(namespace, wanted.accessKeyId),
      secretAccessKey: await this.value(namespace, wanted.secretAccessKey),
    };
  }

  /** @throws FailureError InvalidSpec where the ConfigMap or its key is missing */
  private async certificates(namespace: string, configMap: string | null): Promise<string | null> {
    if (configMap === null) return null;
    const found = await this.client.find<{ data?: Data }>(
      objectPath(resources.configMaps, namespace, configMap),
    );
    const text = found?.data?.['ca.crt'];
    if (text !== undefined) return text;
    throw new FailureError(
      'InvalidSpec',
      `the ConfigMap ${configMap} of spec.model.s3 does not exist or has no key ca.crt`,
    );
  }

  private async value(namespace: string, source: CredentialSource): Promise<string> {
    if (source.kind === 'literal') return source.value;
    const { name, key } = source;
    const secret = await this.client.find<{ data?: Data }>(objectPath(resources.secrets, namespace, name));
    if (secret === null) throw new FailureError('S3AccessDenied', `the Secret ${name} does not exist`);
    const value = secret.data?.[key];
    if (value !== undefined) return Buffer.from(value, 'base64').toString('utf8').trim();
    throw new FailureError('S3AccessDenied', `the Secret ${name} has no key ${key}`);
  }
}
