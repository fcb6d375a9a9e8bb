// The cluster that a person's kubeconfig names, and the flags by which kubectl lets another be chosen.

import { KubeConfig } from '@kubernetes/client-node';
import { errorText } from './error-text.js';
import { KubeClient } from './client.js';

/** The cluster does not answer, or not as it should. */
export class ClusterError extends Error {
  override readonly name = 'ClusterError';
}

/** As kubectl has them, for parseArgs. */
export const clusterFlags = {
  namespace: { type: 'string', short: 'n' },
  context: { type: 'string' },
  kubeconfig: { type: 'string' },
  as: { type: 'string' },
} as const;

/** Undefined: as the kubeconfig says. */
export interface ClusterChoice {
  readonly namespace?: string | undefined;
  readonly context?: string | undefined;
  /** A file; without it KUBECONFIG, ~/.kube/config, or the pod's own account. */
  readonly kubeconfig?: string | undefined;
  /** Whom to impersonate. */
  readonly as?: string | undefined;
}

export interface Connection {
  readonly config: KubeConfig;
  readonly client: KubeClient;
  readonly server: string;
  readonly namespace: string;
}

/** @throws ClusterError without a kubeconfig, or where it has no such context */
export function connect(choice: ClusterChoice): Connection {
  const config = load(choice);
  const current = config.getCurrentCluster();
  // Without any kubeconfig the client falls back to a server on this machine.
  if (current === null || (current.name === 'cluster' && current.server === 'http://localhost:8080')) {
    throw new ClusterError('there is no kubeconfig with a current cluster');
  }
  return {
    config,
    client: new KubeClient(config),
    server: current.server,
    namespace:
      choice.namespace ?? config.getContextObject(config.getCurrentContext())?.namespace ?? 'default',
  };
}

function load({ kubeconfig, context, as }: ClusterChoice): KubeConfig {
  const config = new KubeConfig();
  try {
    if (kubeconfig === undefined) config.loadFromDefault();
    else config.loadFromFile(kubeconfig);
  } catch (cause) {
    throw new ClusterError(`the kubeconfig cannot be read: ${(cause as Error).message}`, { cause });
  }
  if (context !== undefined) {
    if (config.getContextObject(context) === null) {
      const names = config.getContexts().map(({ name }) => name);
      throw new ClusterError(`the kubeconfig has no context ${context}; it has ${names.join(', ')}`);
    }
    config.setCurrentContext(context);
  }
  if (as !== undefined) {
    const name = config.getCurrentUser()?.name;
    config.users = config.users.map((user) => (user.name === name ? { ...user, impersonateUser: as } : user));
  }
  return config;
}

/** What the API server has against a request, in its own words. @throws ClusterError */
export async function orClusterError<T>(request: () => Promise<T>): Promise<T> {
  try {
    return await request();
  } catch (error) {
    throw new ClusterError(errorText(error), { cause: error });
  }
}
