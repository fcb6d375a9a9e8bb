import { expect, test } from '@jest/globals';
import { proxyOf } from './proxy.js';

const server = (host: string): URL => new URL(`https://${host}`);
const HTTPS_PROXY = 'http://proxy:3128';

test('the kubeconfig has the first word, then the environment', () => {
  expect(proxyOf(server('api.test'), 'socks5://other', { HTTPS_PROXY, NO_PROXY: '*' })).toBe(
    'socks5://other',
  );
  expect(proxyOf(server('api.test'), undefined, { HTTPS_PROXY })).toBe(HTTPS_PROXY);
  expect(proxyOf(server('api.test'), '', { https_proxy: 'proxy:3128' })).toBe(HTTPS_PROXY);
  expect(proxyOf(server('api.test'), undefined, {})).toBeNull();
  expect(proxyOf(new URL('http://api.test'), undefined, { HTTPS_PROXY })).toBeNull();
});

test.each([
  ['api.test', '*', true],
  ['api.test', 'api.test', true],
  ['api.test', 'other, .test', true],
  ['api.test', '*.test', true],
  ['api.test', 'test', true],
  ['test', '.test', false],
  ['myapi.test', 'api.test', false],
  ['api.test:6443', 'api.test:6443', true],
  ['api.test:6443', 'api.test:443', false],
  ['api.test', 'api.test:443', true],
  ['10.96.0.1', '10.0.0.0/8', true],
  ['10.96.0.1', '192.168.0.0/16,172.16.0.0/12', false],
  ['10.96.0.1', '10.96.0.1', true],
  ['10.96.0.1', '10.96.0.1/nonsense', false],
  ['[fd00::1]', 'fd00::/8', true],
  ['[fd00::1]:6443', '[fd00::1]:6443', true],
  ['127.0.0.1:6443', '', true],
  ['localhost', '', true],
])('%s with NO_PROXY=%s is exempt: %s', (host, noProxy, exempt) => {
  expect(proxyOf(server(host), undefined, { HTTPS_PROXY, NO_PROXY: noProxy }) === null).toBe(exempt);
});
