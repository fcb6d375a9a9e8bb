import { createPrivateKey, X509Certificate } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import type { KubeRequest } from '../kube/client.js';
import { ConversionCertificate, definitionPath, lifetimeMs } from './conversion-certificate.js';
import { selfSignedCertificate } from './self-signed-certificate.js';

const secretPath = '/api/v1/namespaces/system/secrets/conversion';
const text = (data: string | undefined): string => Buffer.from(data ?? '', 'base64').toString();

interface Stored {
  readonly metadata: { readonly name: string; readonly resourceVersion: string };
  readonly data?: Record<string, string>;
  readonly spec?: { conversion?: { webhook: { clientConfig: Record<string, unknown> } } };
}

/** An API server's two objects, whose versions must be those that are written over. */
class Objects {
  readonly writes: string[] = [];
  private readonly stored = new Map<string, Stored>();

  constructor(clientConfig: Record<string, unknown> | null) {
    const metadata = { name: 'any', resourceVersion: '1' };
    const spec = clientConfig === null ? {} : { conversion: { webhook: { clientConfig } } };
    this.stored.set(definitionPath, { metadata, spec });
    this.stored.set(secretPath, { metadata });
  }

  get secret(): Record<string, string> {
    return this.at(secretPath).data ?? {};
  }

  get caBundle(): string {
    return text(this.at(definitionPath).spec?.conversion?.webhook.clientConfig['caBundle'] as string);
  }

  get<T>(path: string): Promise<T> {
    return Promise.resolve(structuredClone(this.at(path)) as T);
  }

  request<T>({ method, path, body }: KubeRequest): Promise<T> {
    const now = this.at(path);
    const given = body as Stored;
    if (given.metadata.resourceVersion !== now.metadata.resourceVersion)
      return Promise.reject(new Error('Conflict'));
    const metadata = { ...now.metadata, resourceVersion: `${now.metadata.resourceVersion}1` };
    const clientConfig = {
      ...now.spec?.conversion?.webhook.clientConfig,
      ...given.spec?.conversion?.webhook.clientConfig,
    };
    this.stored.set(
      path,
      method === 'PUT'
        ? { ...given, metadata }
        : { metadata, spec: { conversion: { webhook: { clientConfig } } } },
    );
    this.writes.push(`${method} ${path.split('/').at(-1) ?? ''}`);
    return Promise.resolve({} as T);
  }

  private at(path: string): Stored {
    const found = this.stored.get(path);
    if (found === undefined) throw new Error(`there is no ${path}`);
    return found;
  }
}

let now = Date.parse('2030-01-01T00:00:00Z');
const of = (objects: Objects): ConversionCertificate =>
  new ConversionCertificate({
    client: objects,
    namespace: 'system',
    secretName: 'conversion',
    now: () => now,
  });
const service = { name: 'conversion', namespace: 'system' };
const wish = { names: [], notBefore: new Date(0), notAfter: new Date(1) };
const none = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';

beforeEach(() => {
  now = Date.parse('2030-01-01T00:00:00Z');
});

describe('the certificate of the webhook', () => {
  test('is made for the Service that the CRD names, kept, trusted, and then left alone', async () => {
    const objects = new Objects({ service });
    const served = await of(objects).ensure();
    expect(new X509Certificate(served?.cert ?? '').checkHost('conversion.system.svc')).toBeDefined();
    expect(text(objects.secret['tls.crt'])).toBe(served?.cert);
    expect(text(objects.secret['tls.key'])).toBe(served?.key);
    expect(objects.caBundle).toBe(served?.cert);
    expect(await of(objects).ensure()).toMatchObject(served ?? {});
    expect(objects.writes).toEqual(['PUT conversion', 'PATCH llmservices.llmservice.dev']);
  });

  test('is for the host of a URL, where the CRD has that', async () => {
    const served = await of(new Objects({ url: 'https://127.0.0.1:9443/convert' })).ensure();
    expect(new X509Certificate(served?.cert ?? '').checkIP('127.0.0.1')).toBe('127.0.0.1');
  });

  test('is renewed in the last third of its time, and the one before it stays trusted', async () => {
    const objects = new Objects({ service });
    const first = await of(objects).ensure();
    now += (lifetimeMs * 2) / 3 - 3_600_000;
    expect((await of(objects).ensure())?.cert).toBe(first?.cert);
    now += 7_200_000;
    const second = await of(objects).ensure();
    expect(second?.cert).not.toBe(first?.cert);
    expect(objects.caBundle).toBe(`${second?.cert ?? ''}${first?.cert ?? ''}`);
  });

  test('is trusted again where an upgrade of the chart took its caBundle away', async () => {
    const objects = new Objects({ service });
    const first = await of(objects).ensure();
    await objects.request({
      method: 'PATCH',
      path: definitionPath,
      body: {
        metadata: { resourceVersion: '11' },
        spec: { conversion: { webhook: { clientConfig: { caBundle: '' } } } },
      },
    });
    await of(objects).ensure();
    expect(objects.caBundle).toBe(first?.cert);
  });

  test('is made anew for another name, and where the Secret has something else', async () => {
    const other = new Objects({ service: { ...service, name: 'other' } });
    const kept = new Objects({ service });
    await of(kept).ensure();
    for (const data of [kept.secret, { 'tls.crt': 'bm9uZQ==' }]) {
      const { metadata } = await other.get<Stored>(secretPath);
      await other.request({ method: 'PUT', path: secretPath, body: { metadata, data } });
      const served = await of(other).ensure();
      expect(new X509Certificate(served?.cert ?? '').checkHost('other.system.svc')).toBeDefined();
    }
  });

  test.each([
    ['tls.key', 'rubbish', () => 'rubbish'],
    ['tls.key', 'another’s', () => selfSignedCertificate(wish).key],
    ['tls.crt', 'none', () => none],
    ['ca.crt', 'with another that is none', (cert: string) => cert + none],
    ['ca.crt', 'rubbish', () => 'rubbish'],
    ['ca.crt', 'with rubbish at its end', (cert: string) => `${cert}rubbish`],
  ])(
    'is made anew where %s of the Secret is %s, and what is served still stays trusted',
    async (name, _, overwrite) => {
      const objects = new Objects({ service });
      const first = await of(objects).ensure();
      const { metadata, data = {} } = await objects.get<Stored>(secretPath);
      const overwritten = { ...data, [name]: Buffer.from(overwrite(first?.cert ?? '')).toString('base64') };
      await objects.request({ method: 'PUT', path: secretPath, body: { metadata, data: overwritten } });
      const second = await of(objects).ensure();
      const read = new X509Certificate(second?.cert ?? '');
      expect(read.checkPrivateKey(createPrivateKey(second?.key ?? ''))).toBe(true);
      expect(objects.caBundle).toBe(`${second?.cert ?? ''}${first?.cert ?? ''}`);
      expect(text(objects.secret['ca.crt'])).toBe(objects.caBundle);
    },
  );

  test('of two replicas that begin together is one', async () => {
    const objects = new Objects({ service });
    const both = await Promise.allSettled([of(objects).ensure(), of(objects).ensure()]);
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect((await of(objects).ensure())?.cert).toBe(text(objects.secret['tls.crt']));
    expect(objects.writes).toHaveLength(2);
  });

  test('is none, and nothing is written, where the CRD has nobody convert', async () => {
    const objects = new Objects(null);
    expect(await of(objects).ensure()).toBeNull();
    expect(objects.writes).toEqual([]);
  });
});
