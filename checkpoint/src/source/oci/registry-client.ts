// Requests to a registry by the OCI distribution API: authorized as it asks for, redirects followed host by host. Credentials go
// to the registry, or to the token server that it names, and never to the storage that it leads to.

import {
  bytesOf,
  followRedirects,
  request,
  storageFailure,
  StoreHttpError,
  type Answer,
  type Fetch,
  type Got,
} from '../http/http-client.js';
import { challengeOf, tokenIn, tokenUrl, type Challenge } from './registry-challenge.js';
import type { RegistryCredentials } from './registry-credentials.js';

export interface RegistryAccess {
  /** Of the registry, without a slash at its end. */
  readonly endpoint: string;
  /** Null: requests name nobody. */
  readonly credentials: RegistryCredentials | null;
  readonly fetch: Fetch;
}

const maxErrorBytes = 64 * 1024;
const maxTokenBytes = 256 * 1024;

export class RegistryClient {
  readonly origin: string;
  /** The header that the registry asked for, once it did; one at a time is obtained for all requests. */
  private authorization: Promise<string | null> = Promise.resolve(null);

  /** @param signal ends requests; a body that has begun is its reader's to end */
  constructor(
    private readonly access: RegistryAccess,
    private readonly repository: string,
    private readonly signal: AbortSignal | undefined,
  ) {
    this.origin = new URL(access.endpoint).origin;
  }

  url(path: string): URL {
    return new URL(`${this.access.endpoint}/v2/${this.repository}/${path}`);
  }

  get(from: URL, headers: Record<string, string>): Promise<Got> {
    return followRedirects(
      from,
      (url) => this.request(url, headers),
      (url, answer) => this.failure(url, answer),
    );
  }

  async request(url: URL, headers: Record<string, string>): Promise<Answer> {
    if (url.origin !== this.origin) return this.send(url, headers, null);
    const used = this.authorization;
    const answer = await this.send(url, headers, await used);
    const challenge = answer.status === 401 ? challengeOf(answer.headers.get('www-authenticate')) : null;
    if (challenge === null) return answer;
    // What was obtained is missing, or has expired.
    if (this.authorization === used) {
      const obtained = this.authorize(challenge);
      this.authorization = obtained;
      obtained.catch(() => {
        if (this.authorization === obtained) this.authorization = Promise.resolve(null);
      });
    }
    const authorization = await this.authorization;
    if (authorization === null) return answer;
    await answer.body?.cancel();
    return this.send(url, headers, authorization);
  }

  private send(url: URL, headers: Record<string, string>, authorization: string | null): Promise<Answer> {
    const all = authorization === null ? headers : { ...headers, authorization };
    return request(this.access.fetch, url, all, this.signal);
  }

  /** Null: there is nothing to authorize with. */
  private async authorize(challenge: Challenge): Promise<string | null> {
    const { credentials } = this.access;
    const basic =
      credentials === null
        ? null
        : `Basic ${Buffer.from(`${credentials.username}:${credentials.password}`).toString('base64')}`;
    if (challenge.scheme === 'basic') return basic;
    const url = tokenUrl(challenge, this.repository, this.origin);
    const answer = await this.send(url, { accept: 'application/json' }, basic);
    if (!answer.ok || answer.body === null) throw await this.tokenFailure(url, answer);
    return `Bearer ${tokenIn(await bytesOf(answer.body, maxTokenBytes), url)}`;
  }

  private async tokenFailure(url: URL, answer: Answer): Promise<StoreHttpError> {
    await answer.body?.cancel();
    const { status } = answer;
    const message = `the token server ${url.host} answered with ${String(status)}`;
    // What it lacks is nothing that the registry lacks.
    const isOfCredentials = status === 401 || status === 403;
    return isOfCredentials
      ? new StoreHttpError(this.refused(), status, message)
      : new StoreHttpError(`Token${String(status)}`, null, message);
  }

  private async failure(url: URL, answer: Answer): Promise<StoreHttpError> {
    if (url.origin !== this.origin) {
      await answer.body?.cancel();
      return storageFailure(url, answer);
    }
    const { status, body } = answer;
    const { code, message } = errorIn(
      body === null ? null : await bytesOf(body, maxErrorBytes).catch(() => null),
    );
    const isRefused = status === 401 || status === 403;
    return new StoreHttpError(isRefused ? this.refused() : code, status, message);
  }

  /** Asked by nobody, a registry does not say whether there is such a repository. */
  private refused(): string {
    return this.access.credentials === null ? 'NoCredentials' : 'DENIED';
  }
}

/** The first error of an answer, as the distribution API has it. */
function errorIn(body: Buffer | null): { readonly code: string; readonly message: string } {
  try {
    const { errors } = JSON.parse(body?.toString('utf8') ?? '') as { readonly errors?: unknown };
    const [first] = errors as readonly { readonly code?: unknown; readonly message?: unknown }[];
    const text = (value: unknown): string => (typeof value === 'string' ? value : '');
    return { code: text(first?.code), message: text(first?.message) };
  } catch {
    return { code: '', message: '' };
  }
}
