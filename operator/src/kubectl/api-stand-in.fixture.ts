// An API server that answers as a test says, with a kubeconfig that leads to it, and a terminal that keeps what is printed.

import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { KubeConfig } from '@kubernetes/client-node';
import type { Terminal } from './command.js';

type Answer = (url: URL, response: ServerResponse) => void;

export interface ApiStandIn {
  readonly kubeconfig: string;
  stop(): void;
}

export async function startApi(answer: Answer): Promise<ApiStandIn> {
  const server = createServer((request, response) => {
    request.resume();
    answer(new URL(request.url ?? '', 'http://x'), response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const config = new KubeConfig();
  config.loadFromClusterAndUser(
    { name: 'c', server: `http://127.0.0.1:${port}`, skipTLSVerify: true },
    { name: 'u' },
  );
  const folder = mkdtempSync(join(tmpdir(), 'llmservice-stand-in-'));
  const kubeconfig = join(folder, 'kubeconfig');
  writeFileSync(kubeconfig, config.exportConfig());
  return {
    kubeconfig,
    stop: () => {
      server.closeAllConnections();
      server.close();
      rmSync(folder, { recursive: true });
    },
  };
}

/** Of the API server. */
export function refuse(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status).end(JSON.stringify({ message, reason: 'Refused' }));
}

export function list(...items: readonly object[]): string {
  return JSON.stringify({ metadata: { resourceVersion: '1' }, items });
}

/** What is printed on each of the two streams. */
export function terminal(): { readonly terminal: Terminal; readonly output: { out: string; error: string } } {
  const output = { out: '', error: '' };
  const keep = (name: 'out' | 'error'): NodeJS.WriteStream =>
    new Writable({
      write(chunk: Buffer, _, done) {
        output[name] += chunk.toString('utf8');
        done();
      },
    }) as unknown as NodeJS.WriteStream;
  return { terminal: { stdin: process.stdin, stdout: keep('out'), stderr: keep('error') }, output };
}
