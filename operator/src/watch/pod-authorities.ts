// Reads the authorities by which pods that speak HTTPS are verified, from the ConfigMaps that services name, and keeps
// what it read for who asks pods. ConfigMaps of others are not watched: one is read anew when its service is reconciled.

import { X509Certificate } from 'node:crypto';
import type { KubeClient } from '../kube/client.js';
import { keyOf, objectPath, resources, serviceKeyOf } from '../kube/resources.js';
import type { Pod } from '../kube/types.js';
import {
  authorityKey,
  maxAuthorityCharacters,
  podHostname,
  type PodAuthority,
} from '../plan/traffic/pod-authority.js';
import type { WantedService } from '../domain/wanted-service.js';
import type { PodIdentity } from './ask-pod.js';

/** Services are reconciled every few seconds while they load. */
const freshMs = 30_000;
const missingMs = 2_000;
const none: PodAuthority = { state: 'none' };

interface Read {
  readonly configMap: string;
  /** Monotonic. */
  readonly at: number;
  readonly authority: PodAuthority;
}

export class PodAuthorities {
  /** By the service's key. */
  private readonly read = new Map<string, Read>();

  constructor(private readonly client: Pick<KubeClient, 'find'>) {}

  /** @throws ApiError where the API server does not say */
  async look({
    namespace,
    name,
    spec,
  }: Pick<WantedService, 'namespace' | 'name'> & {
    readonly spec: Pick<WantedService['spec'], 'tls'>;
  }): Promise<PodAuthority> {
    const key = keyOf({ metadata: { namespace, name } });
    const configMap = spec.tls.secretRef === undefined ? undefined : spec.tls.caConfigMapRef?.name;
    if (configMap === undefined) {
      this.read.delete(key);
      return none;
    }
    const before = this.read.get(key);
    const now = performance.now();
    if (before?.configMap === configMap && now - before.at < staleAfter(before.authority))
      return before.authority;
    const path = objectPath(resources.configMaps, namespace, configMap);
    const found = await this.client.find<{ data?: Readonly<Record<string, string>> }>(path);
    const authority = judge(configMap, found?.data?.[authorityKey]);
    this.read.set(key, { configMap, at: now, authority });
    return authority;
  }

  /** What the last look found. */
  of(key: string): PodAuthority {
    return this.read.get(key)?.authority ?? none;
  }

  /** Whom a pod has to prove to be; null: nobody was named, or it is not known yet. */
  identityOf(pod: Pod): PodIdentity | null {
    const key = serviceKeyOf(pod);
    const authority = key === null ? none : this.of(key);
    if (key === null || authority.state !== 'known') return null;
    const [namespace = '', name = ''] = key.split('/');
    return { ca: authority.pem, servername: podHostname({ namespace, name }) };
  }

  forget(key: string): void {
    this.read.delete(key);
  }
}

function staleAfter({ state }: PodAuthority): number {
  return state === 'known' ? freshMs : missingMs;
}

function judge(configMap: string, text: string | undefined): PodAuthority {
  const missing = (what: string): PodAuthority => ({
    state: 'missing',
    message: `The ConfigMap ${configMap} ${what}.`,
  });
  if (text === undefined) return missing(`does not exist or has no key ${authorityKey}`);
  if (text.length > maxAuthorityCharacters) return missing(`holds more than 64 KiB in ${authorityKey}`);
  return isCertificate(text)
    ? { state: 'known', pem: text }
    : missing(`holds no certificate in PEM in ${authorityKey}`);
}

/** By its first: gateways judge the others. */
function isCertificate(text: string): boolean {
  try {
    return new X509Certificate(text).raw.byteLength > 0;
  } catch {
    return false;
  }
}
