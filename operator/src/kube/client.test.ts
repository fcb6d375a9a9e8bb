import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { afterEach, expect, test } from '@jest/globals';
import { KubeConfig } from '@kubernetes/client-node';
import { KubeClient } from './client.js';

let server: Server | null = null;

afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

/** A client, and the requests that its server has received and the connections that it has taken. */
async function served() {
  const requests: string[] = [];
  let connections = 0;
  server = createServer((request, response) => {
    requests.push(request.method ?? '');
    response.end('{}');
  })
    .on('connection', () => (connections += 1))
    .listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const config = new KubeConfig();
  config.loadFromClusterAndUser(
    { name: 'c', server: `http://127.0.0.1:${port}`, skipTLSVerify: true },
    { name: 'u' },
  );
  return { client: new KubeClient(config), requests, connections: () => connections };
}

test('a guard is asked once a connection is there, and nothing leaves where it refuses', async () => {
  const { client, requests, connections } = await served();
  const seen: number[] = [];
  let refuses = false;
  const guarded = client.guardedBy(() => {
    seen.push(connections());
    if (refuses) throw new Error('not now');
  });
  await guarded.get('/first');
  await guarded.get('/on-the-same-connection');
  refuses = true;
  await expect(guarded.get('/refused')).rejects.toThrow('not now');
  await client.get('/by-the-client-itself');
  expect(requests).toHaveLength(3);
  expect(seen).toEqual([1, 1, 1]);
});

test('a server that is not there is reported', async () => {
  const { client } = await served();
  server?.close();
  await expect(client.get('/x')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
});
