// HTTPS of a whole replica: certificates that change while it serves, clients that must show one of theirs, and files
// that cannot be used.

import { once } from 'node:events';
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { Agent, createServer, request } from 'node:https';
import { connect, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';

import { afterAll, afterEach, expect, jest, test } from '@jest/globals';

import { answerClientErrors } from '../../runtime/src/http/server/client-errors.js';
import { OpenAnswers } from '../../runtime/src/http/server/open-answers.js';
import { Authority, type Certificate } from '../builders/certificates.js';
import { demoCheckpoint, ReplicaProcess } from './replica-process.js';

jest.setTimeout(120_000);

const authority = new Authority('servers');
const clients = new Authority('clients');
const folder = mkdtempSync(join(tmpdir(), 'llmservice-tls-'));
let replica: ReplicaProcess;
afterEach(() => replica.stop());
afterAll(() => {
  authority.remove();
  clients.remove();
  rmSync(folder, { recursive: true });
});

/** A folder as Kubernetes mounts a Secret: names that lead through one link, which is exchanged as a whole. */
class MountedSecret {
  private version = 0;
  constructor(readonly dir: string) {
    mkdirSync(dir);
  }

  put(files: Readonly<Record<string, string>>): void {
    const data = `..${String(++this.version)}`;
    mkdirSync(join(this.dir, data));
    for (const [name, text] of Object.entries(files)) {
      writeFileSync(join(this.dir, data, name), text);
      rmSync(join(this.dir, name), { force: true });
      symlinkSync(join('..data', name), join(this.dir, name));
    }
    symlinkSync(data, join(this.dir, '..next'));
    renameSync(join(this.dir, '..next'), join(this.dir, '..data'));
  }
}

function secret(name: string, files: Readonly<Record<string, string>>): MountedSecret {
  const mounted = new MountedSecret(join(folder, name));
  mounted.put(files);
  return mounted;
}

const pair = ({ cert, key }: Certificate): Record<string, string> => ({ 'tls.crt': cert, 'tls.key': key });

function startWith({ dir }: MountedSecret): Promise<ReplicaProcess> {
  return ReplicaProcess.start({ uri: demoCheckpoint, env: { LLMSERVICE_TLS_DIR: dir } });
}

interface Answer {
  readonly status: number;
  readonly body: string;
  /** Common name of the server's certificate. */
  readonly server: string;
}

/** Over a connection of its own, or the agent's, whose server the authority must vouch for. */
function get(path: string, client: Partial<Certificate> = {}, agent?: Agent): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const url = replica.url.replace('http:', 'https:') + path;
    const asking = request(url, { ca: authority.cert, ...client, agent: agent ?? false }, (response) => {
      const server = (response.socket as TLSSocket).getPeerCertificate().subject.CN;
      let body = '';
      response.on('data', (chunk: Buffer) => (body += chunk.toString()));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body, server: String(server) }));
    });
    asking.on('error', reject);
    asking.end();
  });
}

const isUp = (): Promise<boolean> =>
  get('/health').then(
    ({ status }) => status === 200,
    () => false,
  );

test('a changed Secret is served to new connections, a broken one is not, and open connections stay', async () => {
  const mounted = secret('changing', pair(authority.issue('first')));
  replica = await startWith(mounted);
  await replica.eventually('HTTPS', isUp);
  const open = new Agent({ keepAlive: true, maxSockets: 1 });
  expect((await get('/v1/models', {}, open)).server).toBe('first');

  mounted.put({ ...pair(authority.issue('other')), 'tls.key': authority.issue('stranger').key });
  await replica.eventually('the log to say it', () => Promise.resolve(replica.log.includes('not taken')));
  expect((await get('/v1/models')).server).toBe('first');

  mounted.put(pair(authority.issue('second')));
  await replica.eventually('the new certificate', async () => (await get('/v1/models')).server === 'second');
  expect(await get('/v1/models', {}, open)).toMatchObject({ status: 200, server: 'first' });
  open.destroy();
});

test('with client-ca.crt only its clients are answered, but for health and metrics', async () => {
  replica = await startWith(
    secret('mutual', { ...pair(authority.issue('server')), 'client-ca.crt': clients.cert }),
  );
  await replica.eventually('HTTPS', isUp);
  expect((await get('/metrics')).status).toBe(200);
  for (const [stranger, why] of [
    [{}, 'none was sent'],
    [authority.issue('of another authority'), 'the one sent is refused'],
  ] as const) {
    const { status, body } = await get('/v1/models', stranger);
    expect(status).toBe(401);
    expect(JSON.parse(body)).toMatchObject({
      error: { code: 'client_certificate_required', message: expect.stringContaining(why) as unknown },
    });
  }
  expect((await get('/v1/models', clients.issue('client'))).status).toBe(200);
});

test('a client that never ends its handshake is closed, and holds up no end', async () => {
  const server = createServer({ ...authority.issue('server'), handshakeTimeout: 100 });
  answerClientErrors(server, new OpenAnswers(server));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const silent = connect((server.address() as AddressInfo).port, '127.0.0.1').resume();
  await once(silent, 'close');
  server.close();

  replica = await startWith(secret('silent', pair(authority.issue('server'))));
  await replica.eventually('HTTPS', isUp);
  const late = connect(Number(new URL(replica.url).port), '127.0.0.1').resume();
  await once(late, 'connect');
  replica.child.kill('SIGTERM');
  expect(await replica.exited()).toBe(0);
});

test.each([
  ['without a key', () => ({ 'tls.crt': authority.issue('alone').cert }), 'tls.key cannot be read'],
  [
    'with the key of another',
    () => ({ ...pair(authority.issue('one')), 'tls.key': authority.issue('two').key }),
    'of one key pair',
  ],
  ['that are no PEM', () => ({ 'tls.crt': 'x', 'tls.key': 'y' }), 'cannot be used'],
])('files %s end the replica with what they need', async (name, files, message) => {
  replica = await startWith(secret(name, files()));
  expect(await replica.exited()).toBe(1);
  expect(replica.terminationMessage).toMatchObject({
    reason: 'CertificateInvalid',
    message: expect.stringContaining(message) as unknown,
  });
});
