// HTTPS from clients to the activator and from it to pods, each verified: a service that sleeps and wakes under a real API
// server, and pods that prove to be another's.

import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { connect } from 'node:tls';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { resources } from '../../operator/src/kube/resources.js';
import { Authority, type Certificate } from '../builders/certificates.js';
import { llamaCheckpoint } from '../builders/checkpoint.js';
import { eventually, freePort } from '../processes.js';
import { ActivatorProcess } from './activator-process.js';
import { FakeReplica } from './fake-replica.js';
import { grantActivatorRole } from './operator-role.js';
import { World, type RunningOperator } from './operator-world.js';
import { makeActivatorPod, makeReplicaPod } from './replica-pod.js';

jest.setTimeout(180_000);

const authority = new Authority('pods');
const strangers = new Authority('strangers');
const folder = mkdtempSync(join(tmpdir(), 'llmservice-activator-tls-'));
const tls = { secretRef: { name: 'pods-tls' }, caConfigMapRef: { name: 'pods-ca' } };
let world: World;
let activator: ActivatorProcess;
let port: number;
const replicas: FakeReplica[] = [];

beforeAll(async () => {
  world = await World.start();
  await grantActivatorRole(world);
  world.s3.put('models', 'llama', llamaCheckpoint());
  const { cert, key } = authority.issue('*.default.svc');
  writeFileSync(join(folder, 'tls.crt'), cert);
  writeFileSync(join(folder, 'tls.key'), key);
  port = await freePort();
  activator = await ActivatorProcess.start(world.api, { TLS_DIR: folder, TLS_PORT: String(port) });
}, 180_000);
afterEach(() => {
  for (const replica of replicas.splice(0)) replica.stop();
});
afterAll(async () => {
  await activator.stop();
  await world.stop();
  authority.remove();
  strangers.remove();
  rmSync(folder, { recursive: true });
});

/** A pod with this certificate. */
async function makePod(service: string, name: string, certificate: Certificate): Promise<FakeReplica> {
  const replica = await FakeReplica.start(certificate);
  replicas.push(replica);
  await makeReplicaPod(world, service, name, replica.port, 'https');
  return replica;
}

/** Asks as a client does that trusts the authority, under the name of the service. */
async function ask(service: string, body: object): Promise<{ status: number; body: string }> {
  const host = `${service}.default.svc`;
  const asked = request({
    ...{ host: '127.0.0.1', port, servername: host, ca: authority.cert, agent: false },
    ...{ path: '/v1/completions', method: 'POST', headers: { host, 'content-type': 'application/json' } },
  });
  asked.end(JSON.stringify(body));
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  return { status: response.statusCode ?? 0, body: await text(response) };
}

const codeOf = ({ status, body }: { status: number; body: string }): unknown[] => [
  status,
  (JSON.parse(body) as { error: { code: string } }).error.code,
];

describe('a service whose pods speak HTTPS', () => {
  let operator: RunningOperator | null = null;
  afterAll(() => operator?.stop());
  beforeAll(async () => {
    await world.makeCertificateSecret('pods-tls', authority.issue('sleepy.default.svc'));
    await makeActivatorPod(world, 'activator-1', '192.0.2.11');
  });

  const create = (name: string) =>
    world.createService(name, {
      model: world.model('models/llama/'),
      tls,
      scaling: { idleAfterSeconds: 1 },
      resources: { limits: { memory: '1Gi' } },
    });
  const makeAuthorities = (name: string, pem: string) =>
    world.create({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, namespace: 'default' },
      data: { 'ca.crt': pem },
    });

  test('does not fall asleep where the activator has no certificate, and says so', async () => {
    const bare = world.startOperator({ timing: { idleIntervalMs: 200 } });
    await makeAuthorities('pods-ca', authority.cert);
    await create('sleepy');
    await world.deployment('sleepy');
    await makePod('sleepy', 'sleepy-1', authority.issue('sleepy.default.svc'));
    await eventually('the note', async () => {
      const { message } = await world.condition('sleepy', 'Ready', 'True', 'Serving');
      return message.includes('activator.tls.secretName');
    });
    await bare.stop();
    await world.delete(resources.pods, 'sleepy-1');
  });

  test('is seen, sleeps and wakes by connections that are verified', async () => {
    operator = world.startOperator({ activatorTls: true, timing: { idleIntervalMs: 200 } });
    await makePod('sleepy', 'sleepy-2', authority.issue('sleepy.default.svc'));
    await eventually('sleep', async () => (await world.deployment('sleepy')).spec?.replicas === 0, 90_000);
    await world.condition('sleepy', 'Ready', 'True', 'Asleep');
    expect((await world.status('sleepy')).certificateAuthorities).toBe(authority.cert);
    expect(await world.get(resources.endpointSlices, 'sleepy-activator')).toMatchObject({
      ports: [{ name: 'https', port: 8084 }],
    });
    await world.delete(resources.pods, 'sleepy-2');

    const answer = ask('sleepy', { id: 7 });
    await eventually('the wake-up', async () => (await world.deployment('sleepy')).spec?.replicas === 1);
    const replica = await makePod('sleepy', 'sleepy-3', authority.issue('sleepy.default.svc'));
    expect(await answer).toEqual({ status: 200, body: '{"id":7}' });
    expect(replica.asked).toMatchObject([{ servername: 'sleepy.default.svc', body: { id: 7 } }]);
  });

  test('whose pods show another’s certificate is not taken for idle by the operator', async () => {
    await create('watched');
    await world.deployment('watched');
    await makePod('watched', 'watched-1', strangers.issue('watched.default.svc'));
    await eventually('the note', async () => {
      const { message } = await world.condition('watched', 'Ready', 'True', 'Serving');
      return message.includes('pod watched-1 does not answer at /metrics');
    });
    expect((await world.deployment('watched')).spec?.replicas).toBe(1);
  });
});

test('another certificate is served without a restart, and one without its key is not', async () => {
  const shown = async (): Promise<string> => {
    const socket = connect({ host: '127.0.0.1', port, servername: 'sleepy.default.svc', ca: authority.cert });
    await once(socket, 'secureConnect');
    const { serialNumber } = socket.getPeerCertificate();
    socket.destroy();
    return serialNumber;
  };
  const first = await shown();
  const next = authority.issue('*.default.svc');
  writeFileSync(join(folder, 'tls.crt'), next.cert);
  await eventually('the log to say it', () => activator.log.includes('the certificate was not taken'));
  expect(await shown()).toBe(first);
  writeFileSync(join(folder, 'tls.key'), next.key);
  await eventually('the other certificate', async () => (await shown()) !== first);
});

describe('a request goes to no pod', () => {
  let count = 0;
  let name: string;

  /** A service that nobody reconciles, as its status would describe it. */
  async function known(authorities: string | null): Promise<void> {
    name = `held-${String((count += 1))}`;
    const scaling = { idleAfterSeconds: 3600 };
    await world.createService(name, { model: { uri: 's3://absent/m/' }, tls, scaling });
    if (authorities === null) return;
    const status = { certificateAuthorities: authorities };
    await eventually('the status', async () => {
      await world.patch(resources.llmServices, name, { status }, '/status');
      return (await world.status(name)).certificateAuthorities === authorities;
    });
  }

  /** The pod that shows it sees no request, and the client reads why. */
  async function expectRefused(shown: Certificate): Promise<void> {
    const replica = await makePod(name, `${name}-1`, shown);
    await eventually('its refusal', async () => {
      const answer = await ask(name, { id: 1 });
      expect(codeOf(answer)).toEqual([502, 'upstream_unverified']);
      return true;
    });
    expect(replica.asked).toEqual([]);
  }

  test.each<[string, () => Certificate]>([
    ['of another authority', () => strangers.issue(`${name}.default.svc`)],
    ['of another name', () => authority.issue('other.default.svc')],
  ])('with a certificate %s, and the client gets an error', async (_, issue) => {
    await known(authority.cert);
    await expectRefused(issue());
  });

  test('where there is nothing to verify it by', async () => {
    await known(null);
    await expectRefused(authority.issue(`${name}.default.svc`));
  });

  test('of a stranger while another proves to be the service’s', async () => {
    await known(authority.cert);
    const stranger = await makePod(name, `${name}-1`, strangers.issue(`${name}.default.svc`));
    const own = await makePod(name, `${name}-2`, authority.issue(`${name}.default.svc`));
    await eventually('both are known', async () => (await ask(name, { id: 0 })).status === 200);
    const before = own.asked.length;
    for (const id of [1, 2, 3])
      expect(await ask(name, { id })).toEqual({ status: 200, body: `{"id":${String(id)}}` });
    expect([stranger.asked.length, own.asked.length - before]).toEqual([0, 3]);
  });
});
