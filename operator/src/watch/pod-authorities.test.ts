import { expect, jest, test } from '@jest/globals';
import type { KubeClient } from '../kube/client.js';
import { wantedService } from '../resource/wanted-service.fixture.js';
import { PodAuthorities } from './pod-authorities.js';

/** Of nobody: its key was thrown away. */
const certificate = `-----BEGIN CERTIFICATE-----
MIIBdjCCARugAwIBAgIUJidZye0+qRG7z2DV3z31KxWSuCYwCgYIKoZIzj0EAwIw
DzENMAsGA1UEAwwEcG9kczAgFw0yNjExMjUxNzU3MjFaGA8yMTI2MTEwMTE3NTcy
MVowDzENMAsGA1UEAwwEcG9kczBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABMHK
HhQW+limMP6bNms8b8cZqbVtb25f1nEYB+tYh/7lb2fZz2XHbUS+1HsckiPCVZ06
cdLkaVDHoTNUz7V+zpejUzBRMB0GA1UdDgQWBBRwDFS0OUQgj80iLseRerXWL9pt
CDAfBgNVHSMEGDAWgBRwDFS0OUQgj80iLseRerXWL9ptCDAPBgNVHRMBAf8EBTAD
AQH/MAoGCCqGSM49BAMCA0kAMEYCIQCLujUdJsnGJOx9kVcTpdEwuYgsquTOe9ue
tQ0WbeQ3uAIhAI6j3QdGuF6SUENKXj3368uLPr+VNSsP/Pks/bqec1VA
-----END CERTIFICATE-----
`;
const tls = { secretRef: { name: 't' }, caConfigMapRef: { name: 'ca' } };
const service = wantedService({ tls });
const pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'a', namespace: 'ns', labels: { 'llmservice.dev/service': 'demo' } },
};

function authoritiesOf(data: object | null) {
  const find = jest.fn(() => Promise.resolve(data === null ? null : { data }));
  return { find, authorities: new PodAuthorities({ find } as unknown as Pick<KubeClient, 'find'>) };
}

test('what is read verifies pods under the name of their Service, and is not read again at once', async () => {
  const { find, authorities } = authoritiesOf({ 'ca.crt': certificate });
  expect(authorities.identityOf(pod)).toBeNull();
  expect(await authorities.look(service)).toEqual({ state: 'known', pem: certificate });
  await authorities.look(service);
  expect(find.mock.calls).toEqual([['/api/v1/namespaces/ns/configmaps/ca']]);
  expect(authorities.identityOf(pod)).toEqual({ ca: certificate, servername: 'demo.ns.svc' });
  authorities.forget('ns/demo');
  expect(authorities.identityOf(pod)).toBeNull();
});

test('a service without HTTPS has none, also where it had', async () => {
  const { authorities } = authoritiesOf({ 'ca.crt': certificate });
  await authorities.look(service);
  expect(await authorities.look(wantedService())).toEqual({ state: 'none' });
  expect(authorities.of('ns/demo')).toEqual({ state: 'none' });
});

test.each<[string, object | null, string]>([
  ['is not there', null, 'does not exist'],
  ['has another key', { 'tls.crt': certificate }, 'no key ca.crt'],
  ['holds no certificate', { 'ca.crt': 'x' }, 'no certificate in PEM'],
  ['holds too much', { 'ca.crt': certificate.repeat(200) }, 'more than 64 KiB'],
])('a ConfigMap that %s is reported', async (_, data, message) => {
  const { authorities } = authoritiesOf(data);
  expect(await authorities.look(service)).toMatchObject({
    state: 'missing',
    message: expect.stringContaining(message) as unknown,
  });
  expect(authorities.identityOf(pod)).toBeNull();
});
