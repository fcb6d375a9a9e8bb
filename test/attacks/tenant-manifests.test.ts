// A tenant who may write LlmServices in one namespace and nothing else, against the operator as the chart installs it: what
// a manifest may make the operator read, run, reach and route, and that the other tenant's service continues meanwhile.

import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { resources } from '../../operator/src/kube/resources.js';
import type { KubeObject } from '../../operator/src/kube/types.js';
import { publicAddress } from '../integration/api-server.js';
import { eventually } from '../processes.js';
import { TwoTeams, type Team } from './two-teams.js';

jest.setTimeout(120_000);

const host = 'chat.example.org';
let teams: TwoTeams;
/** Of the other tenant's service, before any of this. */
let honest: KubeObject;

beforeAll(async () => {
  teams = await TwoTeams.start();
  await teams.apply('team-b', 'honest', {});
  honest = await eventually('its Deployment', () => teams.found('team-b', 'honest', resources.deployments));
}, 300_000);
afterAll(() => teams.stop());

describe('Secrets', () => {
  const variable = (name: string, secret: string, key: string) => ({
    name,
    valueFrom: { secretKeyRef: { name: secret, key } },
  });

  beforeAll(async () => {
    await teams.makeSecret('team-a', 'payroll', { password: 'hunter2' });
    await teams.makeSecret(
      'team-a',
      'certificate',
      { 'tls.key': 'private' },
      { 'llmservice.dev/secret-for': 'tls' },
    );
  });

  test.each([
    ['payroll', 'password'],
    // That services may use for something else.
    ['certificate', 'tls.key'],
  ])('%s: its key is sent to no endpoint as an access key id', async (secret, key) => {
    const { url, heard } = await teams.honeypot();
    const env = [variable('AWS_ACCESS_KEY_ID', secret, key), variable('AWS_SECRET_ACCESS_KEY', secret, key)];
    const name = `sent-${secret}`;
    await teams.apply('team-a', name, { model: { uri: 's3://models/llama/', s3: { endpoint: url } }, env });
    const { message } = await teams.condition('team-a', name, 'ModelResolved', 'SecretNotAllowed');
    expect(message).toContain(`kubectl label secret ${secret} -n team-a llmservice.dev/secret-for=s3`);
    expect(message).not.toMatch(/hunter2|private/);
    expect(heard).toEqual([]);
    await teams.expectNothingMade('team-a', name);
  });

  test.each<[string, object, string]>([
    ['a variable', { env: [variable('TOKEN', 'payroll', 'password')] }, 'SecretNotAllowed'],
    ['keys', { auth: { keysSecretRef: { name: 'payroll' } } }, 'SecretNotAllowed'],
    [
      'keys of administrators',
      { administration: { keysSecretRef: { name: 'certificate' } } },
      'SecretNotAllowed',
    ],
    ['a certificate', { tls: { secretRef: { name: 'payroll' } } }, 'SecretNotAllowed'],
    ['what pulls images', { imagePullSecrets: [{ name: 'payroll' }] }, 'SecretNotAllowed'],
    ['a secret to come', { auth: { keysSecretRef: { name: 'to-come' } } }, 'KeysInvalid'],
  ])('as %s: no pod mounts it', async (what, spec, reason) => {
    const name = `mounts-${what.replaceAll(' ', '-')}`;
    await teams.apply('team-a', name, spec);
    await teams.condition('team-a', name, 'ModelResolved', reason);
    await teams.expectNothingMade('team-a', name);
  });

  test('is used once whoever may edit it has labelled it', async () => {
    const body = { metadata: { labels: { 'llmservice.dev/secret-for': 'env' } } };
    const target = teams.path('team-a', 'payroll', resources.secrets);
    await teams.world.request('PATCH', target, body, 'application/merge-patch+json');
    await eventually(
      'the Deployment',
      () => teams.found('team-a', 'mounts-a-variable', resources.deployments),
      40_000,
    );
  });
});

describe('endpoints', () => {
  const at = (endpoint: string) => ({ model: { uri: 's3://models/llama/', s3: { endpoint } } });

  test('an address of the cluster’s own networks is not connected to', async () => {
    // The operator is allowed 127.0.0.1 for its tests; this one is as near, and nobody named it.
    const { url, heard } = await teams.honeypot('127.0.0.2');
    await teams.apply('team-a', 'inside', at(url));
    const { message } = await teams.condition('team-a', 'inside', 'ModelResolved', 'InvalidSpec');
    expect(message).toContain('not public');
    expect(heard).toEqual([]);
  });

  test('one that is allowed cannot lead there', async () => {
    const inner = await teams.honeypot('127.0.0.2');
    const outer = await teams.honeypot('127.0.0.1', `${inner.url}/latest/meta-data/`);
    await teams.apply('team-a', 'redirected', at(outer.url));
    await eventually('the read', () => outer.heard.length > 0);
    await teams.condition('team-a', 'redirected', 'ModelResolved', 'S3Unavailable');
    expect(inner.heard).toEqual([]);
  });

  test.each([
    ['a Service', '11.0.0.10'],
    ['a pod', '11.1.0.10'],
    ['a node', '11.2.0.7'],
    ['the API server', publicAddress],
    ['a Service, mapped', '[::ffff:11.0.0.10]'],
  ])('the public address of %s is not connected to, though nobody named it', async (what, address) => {
    const name = `own-${what.replaceAll(/[^a-z]/gi, '').toLowerCase()}`;
    await teams.apply('team-a', name, at(`http://${address}`));
    const { message } = await teams.condition('team-a', name, 'ModelResolved', 'InvalidSpec');
    expect(message).toContain("the cluster's own");
    expect(message).toContain('endpoints.allowed');
    await teams.expectNothingMade('team-a', name);
  });

  const xml = (code: string) =>
    `<?xml version="1.0"?><Error><Code>${code}</Code><Message>WORDS of it</Message><Host>WORDS</Host></Error>`;
  test.each<[string, [number, string]]>([
    ['text', [418, 'WORDS OF AN INTERNAL SERVICE']],
    ['a known code', [403, xml('AccessDenied')]],
    // What is like a code is shown: of letters, digits, dots and underscores, at most 64.
    ['no code', [403, xml('WORDS of it')]],
    ['a long code', [500, xml('WORDS'.repeat(20))]],
    ['what is no JSON', [200, 'root:WORDS:0:0:']],
    ['JSON of something else', [200, '{"kind":"WORDS","items":["WORDS"]}']],
  ])('%s in an answer is not passed on by the status', async (what, answer) => {
    const { url, heard } = await teams.honeypot('127.0.0.1', undefined, answer);
    const name = `words-${what.replaceAll(/[^a-z]/gi, '').toLowerCase()}`;
    await teams.apply('team-a', name, at(url));
    const verdict = await eventually('a verdict', async () => {
      const { conditions = [] } = await teams.statusOf('team-a', name);
      const found = conditions.find(({ type }) => type === 'ModelResolved');
      return heard.length > 0 && found !== undefined && found.reason !== 'Pending' ? conditions : null;
    });
    expect(JSON.stringify(verdict)).not.toContain('WORDS');
  });

  test.each([
    'http://[::ffff:169.254.169.254]',
    'http://[fd00:ec2::23]',
    'http://168.63.129.16',
    'http://2852039166',
  ])('%s is refused', async (endpoint) => {
    const name = `metadata-${String(Math.abs(endpoint.length * 31 + endpoint.charCodeAt(endpoint.length - 1)))}`;
    await teams.apply('team-a', name, at(endpoint));
    const { message } = await teams.condition('team-a', name, 'ModelResolved', 'InvalidSpec');
    expect(message).toContain('never connected to');
  });
});

test.each([
  [
    'an image of the tenant’s',
    { engine: { image: 'evil.example/miner:1' } },
    'ImageNotAllowed',
    'example.org/runtime',
  ],
  [
    'an image like ours',
    { engine: { image: 'example.org/runtime-evil:1' } },
    'ImageNotAllowed',
    'images.allowed',
  ],
  ['another account', { serviceAccountName: 'deployer' }, 'ServiceAccountNotAllowed', 'default, team-b/*'],
])('%s gets no pod, and the status says what is allowed', async (_, spec, reason, part) => {
  const name = `refused-${part.replaceAll(/[^a-z]/g, '')}`;
  await teams.apply('team-a', name, spec);
  const { message } = await teams.condition('team-a', name, 'Scheduled', reason);
  expect(message).toContain(part);
  await teams.expectNothingMade('team-a', name);
});

describe('hosts', () => {
  const routed = (service: string, team: Team) => teams.found(team, service, resources.httpRoutes);

  test('an older service does not take over a host by naming it later', async () => {
    await teams.apply('team-a', 'older', { routing: { host: 'own.example.org' } });
    await eventually('its route', () => routed('older', 'team-a'));
    await teams.apply('team-b', 'victim', { routing: { host } });
    // Who has a host is decided by statuses, which are written after the routes.
    await eventually(
      'the victim’s host',
      async () => (await teams.statusOf('team-b', 'victim')).url === `http://${host}/`,
    );
    const before = await routed('victim', 'team-b');
    expect(before).not.toBeNull();
    await teams.edit('team-a', 'older', { routing: { host } });
    const { message } = await teams.condition('team-a', 'older', 'Routed', 'HostTaken');
    // Whose it is, is not shown to other tenants.
    expect(message).not.toContain('victim');
    await eventually('no route', async () => (await routed('older', 'team-a')) === null);
    expect(await routed('victim', 'team-b')).toEqual(before);
  });

  test('nor does a new one, by a prefix that is a part of it', async () => {
    await teams.apply('team-a', 'prefix', { routing: { host, pathPrefix: '/openai' } });
    await teams.condition('team-a', 'prefix', 'Routed', 'HostTaken');
    expect(await routed('prefix', 'team-a')).toBeNull();
    await teams.apply('team-a', 'beside', { routing: { host, pathPrefix: '/team-a' } });
    await eventually('a route beside it', () => routed('beside', 'team-a'));
  });

  test('of other namespaces are refused, and keep nobody from them', async () => {
    await teams.apply('team-a', 'foreign', { routing: { host: 'b.example.net' } });
    const { message } = await teams.condition('team-a', 'foreign', 'Routed', 'HostNotAllowed');
    expect(message).toContain('it may have *.example.org');
    await teams.apply('team-b', 'rightful', { routing: { host: 'b.example.net' } });
    await eventually('its route', () => routed('rightful', 'team-b'));
  });

  test('become free with the service that has them', async () => {
    await teams.tenants.clients['team-b'].request({
      method: 'DELETE',
      path: teams.path('team-b', 'victim'),
      body: {},
    });
    await eventually('the route of who waited', () => routed('older', 'team-a'));
  });
});

test('the other tenant has noticed nothing', async () => {
  expect(await teams.found('team-b', 'honest', resources.deployments)).toEqual(honest);
  await teams.condition('team-b', 'honest', 'ModelResolved', 'Resolved');
});
