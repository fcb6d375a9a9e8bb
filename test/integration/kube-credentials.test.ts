// A real proxy between a client and its server: what comes through it. What is read again after a refusal: the
// configuration, a token's file, and a credential plugin that a real API server refuses from some time on.

import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, jest, test } from '@jest/globals';
import { KubeConfig } from '@kubernetes/client-node';
import { Authority } from '../builders/certificates.js';
import { KubeClient } from '../../operator/src/kube/client.js';
import { connect as connectTo } from '../../operator/src/kube/connect.js';
import { eventually } from '../processes.js';
import { ApiServer } from './api-server.js';

jest.setTimeout(120_000);

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function portOf(server: Server): Promise<number> {
  servers.push(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}

/** A proxy that takes CONNECT alone, and where it was asked to lead. */
async function proxy(): Promise<{ url: string; asked: string[] }> {
  const asked: string[] = [];
  const server = createServer((_, response) => response.writeHead(405).end());
  server.on('connect', (request: IncomingMessage, client: Socket) => {
    asked.push(request.url ?? '');
    const port = Number(request.url?.split(':').at(-1));
    const onward = connect(port, '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      onward.pipe(client).pipe(onward);
    });
    for (const each of [client, onward])
      each.on('error', () => [client, onward].forEach((one) => one.destroy()));
  });
  return { url: `http://127.0.0.1:${String(await portOf(server))}`, asked };
}

function configOf(server: string, more: { proxyUrl?: string; ca?: string }, token = 't'): KubeConfig {
  const config = new KubeConfig();
  const { proxyUrl, ca } = more;
  config.loadFromOptions({
    clusters: [
      {
        ...{ name: 'c', server, skipTLSVerify: ca === undefined },
        ...(proxyUrl === undefined ? {} : { proxyUrl }),
        ...(ca === undefined ? {} : { caData: Buffer.from(ca).toString('base64') }),
      },
    ],
    users: [{ name: 'u', token }],
    contexts: [{ name: 'x', cluster: 'c', user: 'u' }],
    currentContext: 'x',
  });
  return config;
}

test('requests go through the proxy of the kubeconfig, to a server whose certificate is verified, one connection for many', async () => {
  const authority = new Authority('of the cluster');
  const tokens: (string | undefined)[] = [];
  const server = createSecureServer(authority.issue('api.test'), (request, response) => {
    tokens.push(request.headers.authorization);
    response.end('{"kind":"Status"}');
  });
  const port = await portOf(server);
  const { url, asked } = await proxy();
  const at = `https://api.test:${String(port)}`;
  const client = new KubeClient(configOf(at, { proxyUrl: url, ca: authority.cert }));
  await client.get('/one');
  await client.get('/two');
  expect(tokens).toEqual(['Bearer t', 'Bearer t']);
  expect(asked).toEqual([`api.test:${String(port)}`]);
  const stranger = new Authority('of somebody else');
  const mistrustful = new KubeClient(configOf(at, { proxyUrl: url, ca: stranger.cert }));
  await expect(mistrustful.get('/three')).rejects.toThrow(/certificate|issuer/);
  expect(tokens).toHaveLength(2);
  for (const each of [client, mistrustful]) each.close();
  for (const each of [authority, stranger]) each.remove();
});

test('a proxy that refuses is reported, and ends nothing else', async () => {
  const refusing = createServer();
  refusing.on('connect', (_: unknown, socket: Socket) => socket.end('HTTP/1.1 403 Forbidden\r\n\r\n'));
  const proxyUrl = `http://127.0.0.1:${String(await portOf(refusing))}`;
  const client = new KubeClient(configOf('https://api.test:6443', { proxyUrl }));
  await expect(client.get('/x')).rejects.toThrow('403');
  client.close();
});

test('after 401 the configuration and the file of a token are read again', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'llmservice-token-'));
  const tokenFile = join(folder, 'token');
  const tokens: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    tokens.push(request.headers.authorization);
    response.writeHead(request.headers.authorization?.endsWith('new') === true ? 200 : 401).end('{}');
  });
  const at = `http://127.0.0.1:${String(await portOf(server))}`;
  let token = 'old';
  const client = new KubeClient(configOf(at, {}, token), undefined, () => configOf(at, {}, token));
  token = 'new';
  await expect(client.get('/x')).rejects.toMatchObject({ status: 401 });
  await client.get('/x');
  expect(tokens).toEqual(['Bearer old', 'Bearer new']);

  const config = configOf(at, {}, '');
  config.users = [{ name: 'u', authProvider: { name: 'tokenFile', config: { tokenFile } } }];
  writeFileSync(tokenFile, 'old');
  const inCluster = new KubeClient(config, undefined, () => config);
  await expect(inCluster.get('/x')).rejects.toMatchObject({ status: 401 });
  writeFileSync(tokenFile, 'new\n');
  await inCluster.get('/x');
  expect(tokens.at(-1)).toBe('Bearer new');
  for (const each of [client, inCluster]) each.close();
  rmSync(folder, { recursive: true });
});

test('a token of a plugin that the API server refuses before its time is asked for again', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'llmservice-plugin-'));
  const [token, runs, plugin, kubeconfig] = ['token', 'runs', 'plugin.mjs', 'kubeconfig'].map((name) =>
    join(folder, name),
  ) as [string, string, string, string];
  // As those of clouds: what it gives is good for an hour, it says.
  writeFileSync(
    plugin,
    `import { appendFileSync, readFileSync } from 'node:fs';
     appendFileSync(${JSON.stringify(runs)}, 'run\\n');
     const status = {
       token: readFileSync(${JSON.stringify(token)}, 'utf8'),
       expirationTimestamp: new Date(Date.now() + 3_600_000).toISOString(),
     };
     console.log(JSON.stringify({ apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential', status }));`,
  );
  writeFileSync(runs, '');
  const countRuns = (): number => readFileSync(runs, 'utf8').split('\n').length - 1;
  const api = await ApiServer.start();
  try {
    const accounts = '/api/v1/namespaces/default/serviceaccounts';
    await eventually('the default namespace', () => api.admin.find('/api/v1/namespaces/default'));
    const giveTokenOf = async (name: string): Promise<void> => {
      await api.admin.request({ method: 'POST', path: accounts, body: { metadata: { name } } });
      writeFileSync(token, (await api.accountConfig('default', name)).getCurrentUser()?.token ?? '');
    };
    await giveTokenOf('first');
    const exec = {
      apiVersion: 'client.authentication.k8s.io/v1',
      interactiveMode: 'Never',
      ...{ command: process.execPath, args: [plugin] },
    };
    const named = api.kubeConfig();
    named.users = [{ name: named.getCurrentUser()?.name ?? '', exec }];
    writeFileSync(kubeconfig, named.exportConfig());
    const { client } = connectTo({ kubeconfig });
    const whoAmI = async (): Promise<string> => {
      const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
      const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
      const review = await client.request<{ status: { userInfo: { username: string } } }>({
        method: 'POST',
        path,
        body,
      });
      return review.status.userInfo.username;
    };
    for (let each = 0; each < 3; each += 1) {
      expect(await whoAmI()).toBe('system:serviceaccount:default:first');
    }
    expect(countRuns()).toBe(1);
    await api.admin.request({ method: 'DELETE', path: `${accounts}/first` });
    // The server continues with what it has checked for some seconds.
    await eventually('a refusal', async () => {
      const error = await whoAmI().catch((thrown: unknown) => thrown);
      return (error as { status?: number }).status === 401;
    });
    // It was given before the next look at the file.
    expect(countRuns()).toBe(1);
    await giveTokenOf('second');
    for (let each = 0; each < 3; each += 1) {
      expect(await whoAmI()).toBe('system:serviceaccount:default:second');
    }
    expect(countRuns()).toBe(2);
    client.close();
  } finally {
    await api.stop();
    rmSync(folder, { recursive: true });
  }
});
