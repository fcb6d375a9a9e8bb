// Requests to the API server as JSON in, JSON out. Credentials and their renewal come from KubeConfig; bodies are
// sent untouched, so that quantities, int64 and fields of newer API versions survive. Every request has a deadline.

import { once } from 'node:events';
import http, { type ClientRequest, type IncomingMessage } from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { TLSSocket } from 'node:tls';
import type { KubeConfig } from '@kubernetes/client-node';
import { fieldManager } from '@llmservice/crds';
import { ApiError, toApiError } from './api-error.js';
import { Credentials } from './credentials.js';
import { collectionPath, objectPath, resourceOf, type Resource } from './resources.js';
import type { KubeObject } from './types.js';

export { ApiError, toApiError } from './api-error.js';

export interface KubeRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly body?: unknown;
  readonly contentType?: string;
  readonly signal?: AbortSignal;
  /**
   * Called when there is a connection and nothing has been sent; what it throws ends the request. While a connection is
   * made a process may stall for any time.
   */
  readonly beforeSending?: () => void;
}

interface Page<T> {
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string };
  readonly items: readonly T[];
}

export interface ApplyOptions {
  /** Fail with Conflict unless the object still has this version; undefined: whatever its version. */
  readonly resourceVersion?: string | undefined;
  readonly subresource?: 'status';
  readonly dryRun?: boolean;
}

const requestTimeoutMs = 30_000;
/** A page is parsed in one go, and several collections are listed at once. */
const pageSize = 100;
const applyContentType = 'application/apply-patch+yaml';

export class KubeClient {
  private readonly credentials: Credentials;

  /**
   * @param onRequest called for every request that is sent
   * @param reload the configuration as it is by now, for when the server refuses who asks
   */
  constructor(
    config: KubeConfig,
    private readonly onRequest: (method: string, path: string) => void = () => undefined,
    reload?: () => KubeConfig | null,
  ) {
    this.credentials = new Credentials(config, reload);
  }

  /** Of the API server: an address or a name. */
  get serverHost(): string {
    return this.credentials.server.hostname.replace(/^\[|\]$/g, '');
  }

  /** The same client, whose requests fail with what `check` throws when they are about to leave. */
  guardedBy(check: () => void): KubeClient {
    const guarded = Object.create(this) as KubeClient;
    guarded.open = (request) => this.open({ ...request, beforeSending: check });
    return guarded;
  }

  async get<T>(path: string, query?: KubeRequest['query']): Promise<T> {
    return this.request<T>({ method: 'GET', path, ...(query === undefined ? {} : { query }) });
  }

  /** Like `get`, but an absent object is null. */
  async find<T>(path: string, options: Pick<KubeRequest, 'signal'> = {}): Promise<T | null> {
    try {
      return await this.request<T>({ method: 'GET', path, ...options });
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return null;
      throw error;
    }
  }

  /** All objects of a collection. */
  async *list<T extends KubeObject>(path: string, query: KubeRequest['query'] = {}): AsyncGenerator<T> {
    for await (const { items } of this.pages<T>({ path, query })) yield* items;
  }

  async listAll<T extends KubeObject>(path: string, query?: KubeRequest['query']): Promise<T[]> {
    const found: T[] = [];
    for await (const object of this.list<T>(path, query)) found.push(object);
    return found;
  }

  /** All pages of a collection. */
  async *pages<T extends KubeObject>(
    request: Pick<KubeRequest, 'path' | 'query' | 'signal'>,
  ): AsyncGenerator<Page<T>> {
    let next: string | undefined;
    do {
      const query = { ...request.query, limit: pageSize, continue: next };
      const page = await this.request<Page<T>>({ ...request, method: 'GET', query });
      yield page;
      next = page.metadata.continue;
    } while (next !== undefined && next !== '');
  }

  async create<T extends KubeObject>(
    resource: Resource,
    namespace: string,
    body: T,
    options: Pick<KubeRequest, 'signal'> = {},
  ): Promise<T> {
    return this.request<T>({ method: 'POST', path: collectionPath(resource, namespace), body, ...options });
  }

  /** Server-side apply: owns what `object` says, takes it from other managers, leaves their other fields alone. */
  async apply(object: KubeObject, options: ApplyOptions = {}): Promise<KubeObject> {
    const { name, namespace = '' } = object.metadata;
    const { resourceVersion, subresource, dryRun = false } = options;
    const metadata = { ...object.metadata, ...(resourceVersion === undefined ? {} : { resourceVersion }) };
    const path = objectPath(resourceOf(object), namespace, name);
    return this.request<KubeObject>({
      method: 'PATCH',
      path: subresource === undefined ? path : `${path}/${subresource}`,
      query: { fieldManager, force: true, ...(dryRun ? { dryRun: 'All' } : {}) },
      contentType: applyContentType,
      body: { ...object, metadata },
    });
  }

  /** Deletes an object; one that is gone already counts as deleted. @param owned what becomes of what it owns */
  async delete(object: KubeObject, owned: 'Background' | 'Orphan' = 'Background'): Promise<void> {
    const { name, namespace = '', uid, resourceVersion } = object.metadata;
    try {
      await this.request({
        method: 'DELETE',
        path: objectPath(resourceOf(object), namespace, name),
        body: { propagationPolicy: owned, preconditions: { uid, resourceVersion } },
      });
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 404)) throw error;
    }
  }

  async request<T>(request: KubeRequest): Promise<T> {
    const timeout = AbortSignal.timeout(requestTimeoutMs);
    const signal = request.signal === undefined ? timeout : AbortSignal.any([request.signal, timeout]);
    const response = await this.open({ ...request, signal });
    return JSON.parse(await text(response)) as T;
  }

  /**
   * Opens a request and gives its body as a stream, once the server has answered 2xx.
   * @throws ApiError for any other answer
   */
  async open(request: KubeRequest): Promise<IncomingMessage> {
    const options = await this.credentials.options();
    const { server } = this.credentials;
    const url = new URL(server.pathname.replace(/\/$/, '') + request.path, server);
    for (const [key, value] of Object.entries(request.query ?? {})) {
      if (value !== undefined) url.searchParams.set(key, String(value));
    }
    this.onRequest(request.method, request.path);
    const body = request.body === undefined ? undefined : Buffer.from(JSON.stringify(request.body));
    const outgoing = (server.protocol === 'http:' ? http : https).request(url, {
      ...options,
      method: request.method,
      ...(request.signal === undefined ? {} : { signal: request.signal }),
      headers: {
        ...(options.headers as http.OutgoingHttpHeaders | undefined),
        accept: 'application/json',
        'user-agent': fieldManager,
        ...(body === undefined
          ? {}
          : { 'content-type': request.contentType ?? 'application/json', 'content-length': body.byteLength }),
      },
    });
    // After the response an abort is reported through the response's stream; without a listener it would end the process.
    outgoing.on('error', () => undefined);
    await connected(outgoing, request.signal);
    try {
      request.beforeSending?.();
    } catch (error) {
      outgoing.destroy();
      throw error;
    }
    outgoing.end(body);
    const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
    const status = response.statusCode ?? 0;
    if (status >= 200 && status < 300) return response;
    if (status === 401) this.credentials.refused();
    throw toApiError(status, await text(response), response.headers['retry-after']);
  }

  /** Closes idle connections. */
  close(): void {
    this.credentials.close();
  }
}

/**
 * Waits until the request has a connection; nothing of it has been sent then.
 * @throws what the connection fails with, or an AbortError whose cause is the signal's reason
 */
async function connected(outgoing: ClientRequest, signal: AbortSignal | undefined): Promise<void> {
  const options = signal === undefined ? {} : { signal };
  const [socket] = (await once(outgoing, 'socket', options)) as [Socket & { secureConnecting?: boolean }];
  if (outgoing.reusedSocket) return;
  // By way of a proxy it may be there already. Types of Node do not have the property.
  const { connecting, secureConnecting = connecting } = socket;
  if (!(socket instanceof TLSSocket)) {
    if (connecting) await once(socket, 'connect', options);
  } else if (secureConnecting) await once(socket, 'secureConnect', options);
}
