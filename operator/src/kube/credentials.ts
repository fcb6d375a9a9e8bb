// Who the client is to the API server, and by which connections it comes there. What a kubeconfig, a token's file or a
// credential plugin says may change while the process runs: after an answer 401 they are asked again.

import { readFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import { KubeConfig } from '@kubernetes/client-node';
import { proxyOf } from './proxy.js';

/** Many requests may be refused at once. */
const rereadPauseMs = 5_000;
/** For so long KubeConfig continues with a token that it has read from a file. */
const tokenFileMs = 60_000;

export class Credentials {
  readonly server: URL;
  private agent: http.Agent | null = null;
  private rereadAt = -Infinity;

  /** @param reload the configuration as it is by now; null: there is none to read again */
  constructor(
    private config: KubeConfig,
    private readonly reload: () => KubeConfig | null = () => null,
    private readonly env: Readonly<Record<string, string | undefined>> = process.env,
  ) {
    this.server = serverOf(config);
  }

  /** What a request needs for being let in. */
  async options(): Promise<https.RequestOptions> {
    const options: https.RequestOptions = {};
    await this.config.applyToHTTPSOptions(options);
    const token = this.freshToken();
    const headers = options.headers as http.OutgoingHttpHeaders | undefined;
    return {
      ...options,
      headers: { ...headers, ...(token === null ? {} : { Authorization: `Bearer ${token}` }) },
      agent: await this.agentOf(),
    };
  }

  /** The API server does not know who asked. */
  refused(): void {
    const now = performance.now();
    if (now - this.rereadAt < rereadPauseMs) return;
    this.rereadAt = now;
    this.config = this.reread() ?? withoutCache(this.config);
    this.agent = null;
  }

  /** Null: what is known is all there is. */
  private reread(): KubeConfig | null {
    try {
      const config = this.reload();
      // Another server would have other objects than those that are known here.
      return config !== null && serverOf(config).href === this.server.href ? config : null;
    } catch {
      // A file that is being replaced: the next refusal reads it again.
      return null;
    }
  }

  /** Closes idle connections. */
  close(): void {
    this.agent?.destroy();
  }

  private async agentOf(): Promise<http.Agent> {
    this.agent ??= await this.makeAgent();
    return this.agent;
  }

  private async makeAgent(): Promise<http.Agent> {
    const cluster = this.config.getCurrentCluster();
    const proxyUrl = proxyOf(this.server, cluster?.proxyUrl, this.env);
    if (cluster === null || proxyUrl === null) {
      return new (this.server.protocol === 'http:' ? http : https).Agent({ keepAlive: true });
    }
    const proxied = Object.assign(Object.create(this.config) as KubeConfig, {
      getCurrentCluster: () => ({ ...cluster, proxyUrl }),
    });
    const options: https.RequestOptions = {};
    await proxied.applyToHTTPSOptions(options);
    // It makes a new agent for every request, whose connections nobody would use again.
    return Object.assign(options.agent as http.Agent, { keepAlive: true });
  }

  private freshToken(): string | null {
    if (performance.now() - this.rereadAt > tokenFileMs) return null;
    const provider: unknown = this.config.getCurrentUser()?.authProvider;
    const { config } = (provider ?? {}) as { config?: { tokenFile?: string } };
    return config?.tokenFile === undefined ? null : readFileSync(config.tokenFile, 'utf8').trim();
  }
}

/** A KubeConfig keeps what a plugin gave until the time that the plugin said, whatever the server says of it meanwhile. */
function withoutCache({ clusters, users, contexts, currentContext }: KubeConfig): KubeConfig {
  const config = new KubeConfig();
  config.loadFromOptions({ clusters, users, contexts, currentContext });
  return config;
}

function serverOf(config: KubeConfig): URL {
  const cluster = config.getCurrentCluster();
  if (cluster === null) throw new Error('the kubeconfig names no current cluster');
  return new URL(cluster.server);
}
