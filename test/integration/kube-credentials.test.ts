// A real proxy between a client and its server: what comes through it, and what is read again after a refusal.

import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import { KubeConfig } from '@kubernetes/client-node';
import { Authority } from '../builders/certificates.js';
import { KubeClient } from '../../operator/src/kube/client.js';

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

test('a proxy that refuses is told, and ends nothing else', async () => {
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
