import { describe, expect, test } from '@jest/globals';
import { labels } from '@llmservice/crds';
import { objectPath, resources } from '../kube/resources.js';
import { wantedService } from '../resource/wanted-service.fixture.js';
import { ServiceSecrets, type SecretRules } from './service-secrets.js';

const encoded = (text: string): string => Buffer.from(text).toString('base64');
const data = { AWS_ACCESS_KEY_ID: encoded('id'), AWS_SECRET_ACCESS_KEY: encoded('key') };
const secret = (purpose?: string, more: object = { data }) => ({
  metadata: { labels: purpose === undefined ? {} : { [labels.secretFor]: purpose } },
  ...more,
});

/** @param stored Secrets by name */
function open(spec: object, stored: Readonly<Record<string, object>>, rules?: SecretRules) {
  const service = wantedService(spec);
  const asked: string[] = [];
  const client = {
    find: <T>(path: string): Promise<T | null> => {
      asked.push(path);
      const found = Object.entries(stored).find(
        ([name]) => path === objectPath(resources.secrets, service.namespace, name),
      );
      return Promise.resolve((found?.[1] ?? null) as T | null);
    },
  };
  return { asked, opened: new ServiceSecrets(client, rules).open(service) };
}

const byRef = { model: { uri: 's3://b/p/', s3: { credentialsSecretRef: { name: 'x' } } } };
const byEnv = {
  env: ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'].map((name) => ({
    name,
    valueFrom: { secretKeyRef: { name: 'x', key: name } },
  })),
};

describe('a Secret with the label for it', () => {
  test.each([
    ['by its field', byRef],
    ['by variables', byEnv],
  ])('%s gives its keys, by one look', async (_, spec) => {
    const { asked, opened } = open(spec, { x: secret('s3') });
    expect((await opened).credentials).toEqual({ accessKeyId: 'id', secretAccessKey: 'key' });
    expect(asked).toHaveLength(1);
  });
});

const uses: readonly (readonly [string, object, string])[] = [
  ['spec.model.s3.credentialsSecretRef', byRef, 's3'],
  ['spec.env AWS_ACCESS_KEY_ID', byEnv, 's3'],
  ['spec.auth.keysSecretRef', { auth: { keysSecretRef: { name: 'x' } } }, 'keys'],
  [
    'spec.administration.keysSecretRef',
    { administration: { keysSecretRef: { name: 'x' } } },
    'administration',
  ],
  ['spec.tls.secretRef', { tls: { secretRef: { name: 'x' } } }, 'tls'],
  [
    'spec.env TOKEN',
    { env: [{ name: 'TOKEN', valueFrom: { secretKeyRef: { name: 'x', key: 'k', optional: true } } }] },
    'env',
  ],
];

describe.each(uses)('%s', (field, spec, purpose) => {
  test.each([undefined, 'other', 'S3', ...uses.map(([, , each]) => each).filter((each) => each !== purpose)])(
    `is refused with the label %s, with how to allow it`,
    async (label) => {
      const { opened } = open(spec, { x: secret(label) });
      await expect(opened).rejects.toMatchObject({
        reason: 'SecretNotAllowed',
        message: expect.stringContaining(
          `${field} may not use the Secret x, which has no label llmservice.dev/secret-for=${purpose}: ` +
            `kubectl label secret x -n ns llmservice.dev/secret-for=${purpose}`,
        ),
      });
    },
  );

  test('is refused before it exists: its later content is not known', async () => {
    await expect(open(spec, {}).opened).rejects.toThrow('does not exist');
  });
});

describe('imagePullSecrets', () => {
  const spec = { imagePullSecrets: [{ name: 'x' }] };
  test('are of the type that the kubelet pulls with', async () => {
    await expect(open(spec, { x: secret('s3', { type: 'Opaque' }) }).opened).rejects.toThrow(
      'dockerconfigjson',
    );
    const good = secret(undefined, { type: 'kubernetes.io/dockerconfigjson' });
    expect(await open(spec, { x: good }).opened).toEqual({
      credentials: null,
      hubToken: null,
      dockerConfig: null,
      listToken: null,
      certificates: null,
    });
    expect(await open(spec, {}).opened).toEqual({
      credentials: null,
      hubToken: null,
      dockerConfig: null,
      listToken: null,
      certificates: null,
    });
  });
});

test('who plans with Secrets of his own needs no label, and only those of the bucket', async () => {
  const { asked, opened } = open(
    { ...byRef, tls: { secretRef: { name: 't' } } },
    { x: secret() },
    { use: 'any' },
  );
  expect((await opened).credentials).not.toBeNull();
  expect(asked).toHaveLength(1);
});
