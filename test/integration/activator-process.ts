// The activator as it runs in a pod: a process of its own under the chart's role, and requests to it as a service's
// Service or gateway passes them on.

import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request, type ClientRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { eventually, freePort, start, stop } from '../processes.js';
import type { ApiServer } from './api-server.js';

const entry = fileURLToPath(new URL('../../operator/dist/activator/main.js', import.meta.url));

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A request under way. */
interface Sent {
  readonly request: ClientRequest;
  readonly answer: Promise<Answer>;
}

export class ActivatorProcess {
  private constructor(
    readonly child: ChildProcess,
    private readonly ports: { readonly http: number; readonly metrics: number },
    private readonly folder: string,
  ) {}

  static async start(api: ApiServer, settings: NodeJS.ProcessEnv = {}): Promise<ActivatorProcess> {
    const folder = mkdtempSync(join(tmpdir(), 'llmservice-activator-'));
    const kubeconfig = join(folder, 'kubeconfig');
    writeFileSync(kubeconfig, api.kubeConfig('activator').exportConfig());
    const ports = { http: await freePort(), metrics: await freePort() };
    const env = { KUBECONFIG: kubeconfig, PORT: String(ports.http), METRICS_PORT: String(ports.metrics) };
    const child = start(process.execPath, [entry], join(folder, 'log'), { ...env, ...settings });
    const activator = new ActivatorProcess(child, ports, folder);
    try {
      await eventually('the activator', async () => {
        if (child.exitCode !== null) throw new Error(readFileSync(join(folder, 'log'), 'utf8'));
        return (await fetch(`http://127.0.0.1:${String(ports.metrics)}/readyz`)).ok;
      });
      return activator;
    } catch (error) {
      // Nobody else knows of it.
      await activator.stop();
      throw error;
    }
  }

  /** Where it takes requests. */
  get port(): number {
    return this.ports.http;
  }

  get log(): string {
    return readFileSync(join(this.folder, 'log'), 'utf8');
  }

  /** Its page of metrics. */
  async metrics(): Promise<string> {
    return (await fetch(`http://127.0.0.1:${String(this.ports.metrics)}/metrics`)).text();
  }

  /** Value of a metric. */
  async metric(name: string): Promise<number> {
    const line = (await this.metrics()).split('\n').find((each) => each.startsWith(`${name} `));
    return Number(line?.split(' ')[1] ?? 0);
  }

  /** Asks a service of the namespace `default`; settles when the request has left. */
  async send(service: string, body: object, path = '/v1/completions', method = 'POST'): Promise<Sent> {
    const outgoing = request({
      ...{ host: '127.0.0.1', port: this.ports.http, method, path, agent: false },
      headers: { host: `${service}.default.svc`, 'content-type': 'application/json' },
    });
    const answer = once(outgoing, 'response').then(async ([response]: IncomingMessage[]) => ({
      status: response?.statusCode ?? 0,
      headers: response?.headers ?? {},
      body: response === undefined ? '' : await text(response),
    }));
    // Who aborts does not look at the answer.
    answer.catch(() => undefined);
    outgoing.end(method === 'GET' ? undefined : JSON.stringify(body));
    await once(outgoing, 'finish');
    return { request: outgoing, answer };
  }

  /** Sends it, and waits until it is held. */
  async hold(service: string, body: object, path?: string): Promise<Sent> {
    const before = await this.metric('llmservice_activator_held');
    const sent = await this.send(service, body, path);
    await eventually('it is held', async () => (await this.metric('llmservice_activator_held')) > before);
    return sent;
  }

  async stop(): Promise<void> {
    await stop(this.child, 'SIGKILL');
    rmSync(this.folder, { recursive: true, force: true });
  }
}
