import { describe, expect, test } from '@jest/globals';
import type { LookupAddress } from 'node:dns';
import { AddressGuard, anyEndpoint, type EndpointRules } from './address-guard.js';

const guardOf = (rules: Partial<EndpointRules> = {}) =>
  new AddressGuard({ allowed: [], refused: [], ...rules });

/** What a socket to `host` of this endpoint is given. */
function resolve(rules: Partial<EndpointRules>, endpoint: string | null, host: string): Promise<unknown> {
  const lookup = guardOf(rules).lookupFor(endpoint);
  return new Promise((found, fail) =>
    lookup(host, { all: true }, (error, addresses) =>
      error === null ? found((addresses as LookupAddress[])[0]?.address) : fail(error),
    ),
  );
}

describe('an address in the URL', () => {
  test.each([
    'http://169.254.169.254:80/',
    'http://[fe80::1]/',
    'http://[::ffff:a9fe:a9fe]',
    'http://2852039166/',
    'http://0xa9fea9fe/',
    'http://0251.0376.0251.0376/',
    'http://[64:ff9b::a9fe:a9fe]/',
  ])('%s is refused however it is written, and whatever is allowed', (endpoint) => {
    expect(() => guardOf(anyEndpoint).lookupFor(endpoint)).toThrow('link-local');
  });

  test.each([
    'http://10.0.0.1',
    'http://127.1',
    'http://[::1]:9000',
    'http://[::ffff:10.0.0.1]',
    'http://0x7f.1',
  ])('%s is refused unless it is named', (endpoint) => {
    expect(() => guardOf().lookupFor(endpoint)).toThrow(/not public.*endpoints\.allowed.*--allow-endpoint/);
    const named = ['10.0.0.0/8', '127.0.0.0/8', '::1'];
    expect(guardOf({ allowed: named }).lookupFor(endpoint)).toBeInstanceOf(Function);
  });

  test('that is public is taken, unless it is the cluster’s own', () => {
    expect(guardOf().lookupFor('https://203.0.114.1')).toBeInstanceOf(Function);
    for (const endpoint of ['https://203.0.114.1', 'https://[::ffff:203.0.114.1]']) {
      expect(() => guardOf({ refused: ['203.0.114.0/24'] }).lookupFor(endpoint)).toThrow('the cluster');
    }
  });
});

test.each(['', 'minio.storage', 's3.example.org:9000', 'file:///etc/passwd'])(
  '%s is no endpoint',
  (endpoint) => {
    expect(() => guardOf().lookupFor(endpoint)).toThrow('not an http or https URL');
  },
);

describe('a name', () => {
  test('is judged by what it resolves to when a connection is made', async () => {
    await expect(resolve({}, 'http://localhost:9000', 'localhost')).rejects.toThrow('not public');
    expect(await resolve({ allowed: ['127.0.0.0/8', '::1'] }, 'http://localhost', 'localhost')).toMatch(
      /^127|^::1/,
    );
  });

  test('that is allowed may lead into the cluster, with its buckets as sub-domains', async () => {
    const allowed = ['local*', '*.storage.svc'];
    expect(await resolve({ allowed }, 'http://LOCALHOST.:80', 'localhost')).toMatch(/^127|^::1/);
    expect(await resolve({ allowed }, 'http://s3.storage.svc', '10.0.0.1')).toBe('10.0.0.1');
    await expect(resolve({ allowed }, 'http://a.s3.storage.svc', '10.0.0.1')).rejects.toThrow('not public');
    await expect(resolve({ allowed }, 'http://storage.svc.evil.org', '10.0.0.1')).rejects.toThrow(
      'not public',
    );
    // A name is no reason to ask for the node's credentials.
    await expect(resolve({ allowed }, 'http://s3.storage.svc', '169.254.169.254')).rejects.toThrow('never');
  });

  test('of AWS has to be public', async () => {
    await expect(resolve({ allowed: ['**.storage'] }, null, '10.0.0.1')).rejects.toThrow('not public');
    expect(await resolve({}, null, '8.8.8.8')).toBe('8.8.8.8');
  });
});

describe('an endpoint that leads on to other hosts', () => {
  const field = 'spec.model.hub.endpoint';
  const hostsOf = (rules: Partial<EndpointRules>) => guardOf(rules).hostsOf(field, 'https://hub.example');

  test('has each of them judged by its own name', async () => {
    const looked = (rules: Partial<EndpointRules>): Promise<Error | null> =>
      new Promise((done) => hostsOf(rules).lookup('localhost', {}, (error) => done(error)));
    expect(await looked({ allowed: ['localhost'] })).toBeNull();
    expect((await looked({ allowed: ['hub.example'] }))?.message).toContain(field);
  });

  test('has addresses in their URLs judged before they are connected to', () => {
    const { checkHost } = hostsOf({});
    expect(() => checkHost(new URL('http://169.254.169.254/x'))).toThrow('link-local');
    expect(() => checkHost(new URL('http://10.0.0.1/x'))).toThrow(`${field} leads to 10.0.0.1`);
    expect(() => checkHost(new URL('ftp://203.0.114.1/x'))).toThrow('not an http or https URL');
    expect(() => checkHost(new URL('https://203.0.114.1/x'))).not.toThrow();
  });
});
