// The certificate of the conversion webhook: made here, kept in a Secret that all replicas serve from, trusted by the CRD.
// Every replica may make or renew it: the first write wins by its resourceVersion, and the others read it. A new certificate is
// trusted beside the one before it, which other replicas still serve until they look again.

import { createPrivateKey, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import type { KubeClient } from '../kube/client.js';
import { objectPath, resources } from '../kube/resources.js';
import type { KubeObject } from '../kube/types.js';
import { selfSignedCertificate, type KeyedCertificate } from './self-signed-certificate.js';

export interface ConversionCertificateOptions {
  readonly client: Pick<KubeClient, 'get' | 'request'>;
  readonly namespace: string;
  /** There before: the operator may not create Secrets. */
  readonly secretName: string;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

export const definitionPath =
  '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/llmservices.llmservice.dev';

const hourMs = 3_600_000;
export const lifetimeMs = 365 * 24 * hourMs;
/** Clocks of other machines may be behind. */
const headStartMs = hourMs;

interface ClientConfig {
  readonly service?: { readonly name: string; readonly namespace: string };
  readonly url?: string;
  readonly caBundle?: string;
}

interface Definition extends KubeObject {
  readonly spec: {
    readonly conversion?: { readonly webhook?: { readonly clientConfig?: ClientConfig } };
  };
}

interface Secret extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

/** With the certificates that callers trust, in PEM. */
interface Kept extends KeyedCertificate {
  readonly bundle: string;
}

export class ConversionCertificate {
  constructor(private readonly options: ConversionCertificateOptions) {}

  /**
   * The certificate to serve now, which the CRD trusts by then; null: the CRD has nobody convert.
   * @throws ApiError, with Conflict where another replica was faster
   */
  async ensure(): Promise<KeyedCertificate | null> {
    const { client, namespace, secretName, now } = this.options;
    const definition = await client.get<Definition>(definitionPath);
    const config = definition.spec.conversion?.webhook?.clientConfig;
    const name = calledBy(config);
    if (config === undefined || name === null) return null;
    const secret = await client.get<Secret>(objectPath(resources.secrets, namespace, secretName));
    const found = keptIn(secret);
    const kept =
      found !== null && serves(found, name, now())
        ? found
        : await this.renew(secret, found?.cert ?? trustedBy(config), name);
    await this.trust(definition, config, kept.bundle);
    return kept;
  }

  /** @param before what other replicas may serve still, or nothing */
  private async renew(secret: Secret, before: string, name: string): Promise<Kept> {
    const { client, namespace, secretName, now } = this.options;
    const made = selfSignedCertificate({
      names: [name],
      notBefore: new Date(now() - headStartMs),
      notAfter: new Date(now() + lifetimeMs),
    });
    const bundle = made.cert + before;
    const data = { 'tls.crt': made.cert, 'tls.key': made.key, 'ca.crt': bundle };
    await client.request({
      method: 'PUT',
      path: objectPath(resources.secrets, namespace, secretName),
      body: {
        ...secret,
        data: Object.fromEntries(Object.entries(data).map(([key, text]) => [key, base64(text)])),
      },
    });
    return { ...made, bundle };
  }

  private async trust(definition: Definition, { caBundle }: ClientConfig, bundle: string): Promise<void> {
    if (caBundle === base64(bundle)) return;
    const { resourceVersion } = definition.metadata;
    await this.options.client.request({
      method: 'PATCH',
      path: definitionPath,
      contentType: 'application/merge-patch+json',
      body: {
        metadata: { resourceVersion },
        spec: { conversion: { webhook: { clientConfig: { caBundle: base64(bundle) } } } },
      },
    });
  }
}

/** The name or address that the API server calls, and verifies. */
function calledBy(config: ClientConfig | undefined): string | null {
  if (config?.service !== undefined) return `${config.service.name}.${config.service.namespace}.svc`;
  return config?.url === undefined ? null : new URL(config.url).hostname;
}

/** The newest certificate that the API server trusts, where that is one. */
function trustedBy({ caBundle = '' }: ClientConfig): string {
  const [newest = ''] = certificatesIn(textOf(caBundle));
  return readable(newest) === null ? '' : newest;
}

/** Null: the Secret has none, or something else. The API server refuses a bundle with anything else in it. */
function keptIn({ data = {} }: Secret): Kept | null {
  const [cert = '', key = '', bundle = ''] = ['tls.crt', 'tls.key', 'ca.crt'].map((name) =>
    textOf(data[name]),
  );
  const trusted = certificatesIn(bundle);
  const isWhole = trusted.includes(cert) && trusted.join('') === bundle;
  return isWhole && trusted.every((each) => readable(each) !== null) && isPair(cert, key)
    ? { cert, key, bundle }
    : null;
}

const certificatesIn = (text: string): readonly string[] =>
  text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\n/g) ?? [];

function isPair(cert: string, key: string): boolean {
  try {
    return new X509Certificate(cert).checkPrivateKey(createPrivateKey(key));
  } catch {
    return false;
  }
}

/** For the name, and in the first two thirds of its time. */
function serves({ cert }: Kept, name: string, now: number): boolean {
  const read = readable(cert);
  if (read === null || (isIP(name) === 0 ? read.checkHost(name) : read.checkIP(name)) === undefined)
    return false;
  const [from, to] = [read.validFromDate.getTime(), read.validToDate.getTime()];
  return now >= from && now < from + (2 * (to - from)) / 3;
}

function readable(cert: string): X509Certificate | null {
  try {
    return new X509Certificate(cert);
  } catch {
    return null;
  }
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const textOf = (data = ''): string => Buffer.from(data, 'base64').toString();
