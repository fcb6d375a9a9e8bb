// The services and their pods as the API server reports them: whom a host means, and where it can be sent.

import {
  fieldManager,
  labels,
  type ActivatorErrorCode,
  type LlmService,
  type LlmServiceSpec,
} from '@llmservice/crds';
import type { Logger } from 'winston';
import type { KubeClient } from '../kube/client.js';
import { keyOf, resources, serviceKeyOf } from '../kube/resources.js';
import type { KubeObject, Pod } from '../kube/types.js';
import { isRefusedHost } from '../plan/traffic/host-claims.js';
import { podHostname } from '../plan/traffic/pod-authority.js';
import type { Scheme } from '../plan/pods/container-parts.js';
import { isReady } from '../status/pod-state.js';
import { podUrl, type PodIdentity } from '../watch/ask-pod.js';
import { Collection } from '../watch/collection.js';
import { asResolved } from '../plan/class/resolved-object.js';
import { podAsRead } from '../watch/pod-as-read.js';
import { ActivatorError } from './activator-error.js';
import { serviceOfHost, type Named } from './service-of-host.js';

export interface DirectoryOptions {
  readonly client: KubeClient;
  /** Null: all namespaces. */
  readonly namespaces: readonly string[] | null;
  readonly logger: Logger;
  /** A service (namespace/name) of which something changed. */
  readonly onChange: (key: string) => void;
}

export type Place =
  /** `timeoutMs`: how long a request may wait in all. */
  | {
      readonly state: 'ready';
      readonly urls: readonly string[];
      /** What pods have to prove; null: they speak plain HTTP. */
      readonly identity: PodIdentity | null;
      readonly timeoutMs: number;
    }
  | { readonly state: 'waiting'; readonly timeoutMs: number }
  | { readonly state: 'refused'; readonly error: ActivatorError };

/** An older CRD does not fill in all of its spec. */
type Service = Omit<LlmService, 'spec'> & KubeObject & { readonly spec: Partial<LlmServiceSpec> };

export class Directory {
  private readonly services: Collection;
  private readonly pods: Collection;

  constructor({ client, namespaces, logger, onChange }: DirectoryOptions) {
    const common = {
      ...{ client, namespaces, logger },
      // Of several namespaces one that is gone or closed holds up none of the others.
      ...(namespaces !== null && namespaces.length > 1 ? { onServed: () => undefined } : {}),
    };
    this.services = new Collection({
      ...common,
      resource: resources.llmServices,
      keep: asResolved,
      onChange: (service) => onChange(keyOf(service)),
    });
    this.pods = new Collection({
      ...common,
      resource: resources.pods,
      labelSelector: `${labels.managedBy}=${fieldManager},${labels.service}`,
      keep: podAsRead,
      onChange: (pod) => {
        const key = serviceKeyOf(pod);
        if (key !== null) onChange(key);
      },
    });
  }

  /** Settles when the first lists are in. */
  async start(signal: AbortSignal): Promise<void> {
    for (const collection of [this.services, this.pods]) collection.run(signal);
    await Promise.all([this.services.ready, this.pods.ready]);
  }

  /** Key of the service that a Host header means. @throws ActivatorError */
  find(host: string | undefined): string {
    const service = serviceOfHost(host, [...(this.services.values() as Iterable<Service>)].map(named));
    if (service !== null) return `${service.namespace}/${service.name}`;
    throw new ActivatorError('service_not_found', `no service has the host ${host ?? '(none was sent)'}`);
  }

  place(key: string): Place {
    const [namespace = '', name = ''] = key.split('/');
    const service = this.services.get(namespace, name) as Service | null;
    if (service === null) return refused('service_not_found', `there is no service ${key} any more`);
    const { idleAfterSeconds, wakeTimeoutSeconds = 0 } = service.spec.scaling ?? {};
    // Who reaches the activator would get around the service's NetworkPolicy. Where the field was taken out of a
    // service that slept, its own pods answer soon.
    if (idleAfterSeconds === undefined) {
      return refused('model_not_ready', `the service ${key} does not sleep: its own pods answer for it`, 10);
    }
    const secure = service.spec.tls?.secretRef !== undefined;
    const urls = this.urls(namespace, name, secure ? 'https' : 'http');
    const timeoutMs = wakeTimeoutSeconds * 1000;
    if (urls.length > 0) {
      const ca = service.status?.certificateAuthorities;
      if (!secure) return { state: 'ready', urls, identity: null, timeoutMs };
      if (ca === undefined) return refused('upstream_unverified', nothingToVerifyBy(key));
      return {
        state: 'ready',
        urls,
        identity: { ca, servername: podHostname({ namespace, name }) },
        timeoutMs,
      };
    }
    if (service.spec.stop === true || service.spec.replicas === 0) {
      return refused('service_stopped', `the service ${key} is stopped`);
    }
    const ready = service.status?.conditions?.find(({ type }) => type === 'Ready');
    if (ready?.reason === 'OverBudget') {
      return refused('service_over_budget', `the service ${key} has no pods: ${ready.message}`);
    }
    const stalled = service.status?.conditions?.find(({ type }) => type === 'Stalled');
    if (stalled?.status === 'True' && stalled.observedGeneration === service.metadata.generation) {
      return refused('service_failed', `the service ${key} failed: ${stalled.reason}`);
    }
    return { state: 'waiting', timeoutMs };
  }

  /** Of the pods that speak it: pods of a revision before or after may speak the other. */
  private urls(namespace: string, name: string, scheme: Scheme): string[] {
    return (this.pods.labelled(namespace, labels.service, name) as Pod[])
      .filter(isReady)
      .map(podUrl)
      .filter((url) => url?.startsWith(`${scheme}:`) === true)
      .map(String);
  }
}

function named(service: Service): Named {
  const { metadata, spec } = service;
  const { host, pathPrefix } = spec.routing ?? {};
  return {
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    // Who has a part of a host is not known by it.
    host: pathPrefix === undefined && !isRefusedHost(service) ? (host ?? null) : null,
    createdAt: metadata.creationTimestamp ?? '',
  };
}

function refused(code: ActivatorErrorCode, message: string, retryAfterSeconds: number | null = null): Place {
  return { state: 'refused', error: new ActivatorError(code, message, retryAfterSeconds) };
}

function nothingToVerifyBy(key: string): string {
  return (
    `there is nothing to verify the pods of ${key} by: the ConfigMap that its tls.caConfigMapRef names must hold the ` +
    'authorities of their certificate'
  );
}
