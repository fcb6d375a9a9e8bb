import { expect, test } from '@jest/globals';
import { parseActivatorSettings } from './activator-options.js';

test('settings are read, and what is left out has its default', () => {
  expect(
    parseActivatorSettings({ WATCH_NAMESPACE: '', PORT: '9000', GRACE_SECONDS: '0', TLS_DIR: '/tls' }),
  ).toMatchObject({
    watchNamespaces: null,
    port: 9000,
    metricsPort: 8081,
    tlsDir: '/tls',
    tlsPort: 8084,
    graceSeconds: 0,
    maxHeld: 1000,
  });
});

test('everything that is wrong is named', () => {
  expect(() => parseActivatorSettings({ PORT: '70000', MAX_HELD: 'many' })).toThrow(/PORT.*MAX_HELD/);
});
