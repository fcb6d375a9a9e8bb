// Every setting of the server is one of the manifest's, or is not for a manifest to say: `spec.env` takes none of them, so
// what has neither field nor reason could not be set in a cluster at all.

import { expect, test } from '@jest/globals';
import { serverVariables } from '../../operator/src/plan/pods/container-env.js';
import { wantedService } from '../../operator/src/resource/wanted-service.fixture.js';
import { serverSettings } from '../../runtime/src/config/server-settings.js';

const everything = {
  tls: { secretRef: { name: 'tls' } },
  server: {
    maxBodyBytes: 65_536,
    maxBodiesBytes: 2 ** 24,
    maxConnections: 2048,
    cors: { origins: ['https://chat.example'] },
    trustRequestChatTemplate: true,
    storedResponses: { uri: 's3://chats/', maxBytes: 2 ** 26, maxCount: 100, maxAgeSeconds: 3600 },
    batches: {
      uri: 's3://batches/',
      maxBytes: 2 ** 30,
      maxFileBytes: 2 ** 26,
      maxAgeSeconds: 86_400,
      maxConcurrent: 8,
    },
    maxWaiting: 0,
    mostUrgentPriority: -2,
    logLevel: 'debug',
  },
  compatibility: 'liftwing',
  adapters: [{ name: 'legal', uri: 's3://models/legal/' }],
  administration: { keysSecretRef: { name: 'admins' }, allowedUris: ['s3://models/others/'] },
  requestLog: { uri: 's3://logs/demo/', text: true },
};

/** Variables that no field sets, and why. */
const reasons: Readonly<Record<string, string>> = {
  LLMSERVICE_HOST: 'a pod listens on every address',
  LLMSERVICE_PORT: 'probes and Services name the port',
  LLMSERVICE_WEIGHTS_DIR: 'where the volume is mounted',
  LLMSERVICE_S3_CA_DIR: 'where the ConfigMap is mounted',
  LLMSERVICE_TERMINATION_LOG: 'where the kubelet reads it',
  LLMSERVICE_ACCOUNTING_FILE_BYTES: 'files of another size show nothing else',
  LLMSERVICE_THREADS: 'the cores that spec.resources lets the container have',
  LLMSERVICE_RANK_PORT: 'pods of a group have it to themselves',
  DISAGGREGATION_ROLE: 'spec.disaggregation decides it for each Deployment',
  PREFILL_HOST: 'spec.disaggregation has a Service of its own for it',
  PREFILL_MIN_TOKENS: 'decode pods alone have it, of spec.disaggregation.minPromptTokens',
  PREFILL_PORT: 'prefill pods have it to themselves',
  KV_TRANSFER_PORT: 'prefill pods have it to themselves',
  LWS_LEADER_ADDRESS: 'LeaderWorkerSet says it',
  LWS_GROUP_SIZE: 'LeaderWorkerSet says it',
  LWS_WORKER_INDEX: 'LeaderWorkerSet says it',
  LLMSERVICE_ADAPTERS:
    'those of spec.adapters are in the folder of LLMSERVICE_ADAPTERS_DIR, where they may change',
  TRUST_REMOTE_CODE: 'spec.env takes it; no code is run whatever it says',
};

const fields = serverVariables(wantedService(everything)).map(({ name }) => name);

test.each(serverSettings.map(({ env }) => env))(
  '%s has a field of the manifest, or a reason why not',
  (env) => {
    expect(fields.includes(env)).not.toBe(Object.hasOwn(reasons, env));
  },
);

test('no variable is set or excused that no setting reads', () => {
  const read: readonly string[] = serverSettings.map(({ env }) => env);
  expect([...fields, ...Object.keys(reasons)].filter((name) => !read.includes(name))).toEqual([]);
});
