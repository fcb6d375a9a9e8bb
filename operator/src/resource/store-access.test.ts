import { expect, test } from '@jest/globals';
import { wantedService } from './wanted-service.fixture.js';
import { hubAccess, s3Access } from './store-access.js';

const model = (s3: object) => ({ model: { uri: 's3://bucket/x/', s3 } });

test('without a Secret requests go unsigned', () => {
  expect(s3Access(wantedService())).toEqual({
    endpoint: null,
    google: false,
    region: 'us-east-1',
    forcePathStyle: true,
    credentials: null,
  });
});

test('a Secret gives both keys', () => {
  const access = s3Access(
    wantedService(model({ endpoint: 'http://s3', credentialsSecretRef: { name: 'keys' } })),
  );
  expect(access.endpoint).toBe('http://s3');
  expect(access.credentials).toEqual({
    accessKeyId: { kind: 'secret', name: 'keys', key: 'AWS_ACCESS_KEY_ID' },
    secretAccessKey: { kind: 'secret', name: 'keys', key: 'AWS_SECRET_ACCESS_KEY' },
  });
});

test('variables of the pod replace what the Secret would give', () => {
  const env = [
    { name: 'AWS_ACCESS_KEY_ID', value: 'me' },
    { name: 'AWS_SECRET_ACCESS_KEY', valueFrom: { secretKeyRef: { name: 'other', key: 'k' } } },
    { name: 'AWS_REGION', value: 'here' },
  ];
  const access = s3Access(wantedService({ ...model({ credentialsSecretRef: { name: 'keys' } }), env }));
  expect(access).toMatchObject({
    region: 'here',
    credentials: {
      accessKeyId: { kind: 'literal', value: 'me' },
      secretAccessKey: { kind: 'secret', name: 'other', key: 'k' },
    },
  });
});

test('an empty variable stands in the place of a Secret’s token, for none', () => {
  const model = { uri: 'hf://o/n', hub: { tokenSecretRef: { name: 'token' } } };
  expect(hubAccess(wantedService({ model })).token).toEqual({
    kind: 'secret',
    name: 'token',
    key: 'HF_TOKEN',
  });
  expect(hubAccess(wantedService({ model, env: [{ name: 'HF_TOKEN', value: '' }] })).token).toBeNull();
});
