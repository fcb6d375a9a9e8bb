// Two teams on one cluster, as the operator's chart has it: the chart is applied to a real API server, each team has a
// namespace and a ServiceAccount with the chart's role for authors there, and everybody asks with a token of his own.

import { KubeClient, ApiError, type KubeRequest } from '../../operator/src/kube/client.js';
import { createOperatorLogger } from '../../operator/src/log.js';
import { eventually } from '../processes.js';
import { Kubectl } from './kubectl.js';
import { renderChart } from './operator-role.js';
import type { World } from './operator-world.js';

export const system = 'llmservice-system';
export const release = 'llmservice-operator';
const accounts = {
  operator: [system, release],
  activator: [system, `${release}-activator`],
  'team-a': ['team-a', 'author'],
  'team-b': ['team-b', 'author'],
} as const;
export type Account = keyof typeof accounts;
export const accountNames = Object.keys(accounts) as Account[];
const teams = ['team-a', 'team-b'] as const;

export class Tenants {
  private constructor(readonly clients: Readonly<Record<Account, KubeClient>>) {}

  static async install(world: World, ...settings: string[]): Promise<Tenants> {
    const kubectl = new Kubectl(world.api.kubeConfig());
    for (const namespace of [system, ...teams]) await world.makeNamespace(namespace);
    const chart = renderChart(release, '--set', 'crd.install=false', ...settings, '--namespace', system);
    await kubectl.output(['apply', '-f', '-'], chart.map((object) => JSON.stringify(object)).join('\n'));
    for (const namespace of teams) {
      await kubectl.output(['create', 'serviceaccount', 'author', '-n', namespace]);
      const role = [`--clusterrole=${release}-author`, `--serviceaccount=${namespace}:author`];
      await kubectl.output(['create', 'rolebinding', 'author', '-n', namespace, ...role]);
      await world.makeCredentials(namespace);
    }
    const clients: [string, KubeClient][] = [];
    for (const [account, [namespace, name]] of Object.entries(accounts)) {
      clients.push([account, new KubeClient(await world.api.accountConfig(namespace, name))]);
    }
    return new Tenants(Object.fromEntries(clients) as Record<Account, KubeClient>);
  }

  /** HTTP status of the answer; a request that is allowed is not carried out. */
  async ask(account: Account, request: KubeRequest): Promise<{ status: number; message: string }> {
    const query = request.method === 'GET' ? {} : { query: { ...request.query, dryRun: 'All' } };
    try {
      await this.clients[account].request({ ...request, ...query });
      return { status: 200, message: '' };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return { status: error.status, message: error.message };
    }
  }

  /** A new policy holds once the API server has read it. */
  async policyHolds(request: KubeRequest): Promise<void> {
    await eventually('the policy', async () => (await this.ask('activator', request)).status !== 200);
  }

  stop(): void {
    for (const client of Object.values(this.clients)) client.close();
  }
}

export const silent = createOperatorLogger(null);
