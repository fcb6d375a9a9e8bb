import { afterEach, expect, test } from '@jest/globals';
import { list, refuse, startApi, terminal, type ApiStandIn } from './api-stand-in.fixture.js';
import { status } from './status.js';

let api: ApiStandIn;
afterEach(() => api.stop());

const service = (namespace: string, ready: 'True' | 'False') => ({
  metadata: { name: 'demo', namespace },
  status: { conditions: [{ type: 'Ready', status: ready, reason: 'Why', message: 'As it is.' }] },
});

test('services of all namespaces are listed with theirs', async () => {
  api = await startApi(({ pathname }, response) => {
    if (pathname.endsWith('/llmgateways')) refuse(response, 404, 'not found');
    else response.end(list(service('a', 'True'), service('b', 'True')));
  });
  const { terminal: screen, output } = terminal();
  expect(await status(['-A', '--kubeconfig', api.kubeconfig], screen)).toBe(0);
  expect(output.out.split('\n').map((line) => line.split(/ +/).slice(0, 2))).toEqual([
    ...[['NAMESPACE', 'NAME'], ['a', 'demo'], ['b', 'demo'], ['']],
  ]);
});

test('gateways of models are listed below services, and found by their names', async () => {
  const gateway = { ...service('a', 'True'), metadata: { name: 'models', namespace: 'a' } };
  api = await startApi(({ pathname }, response) => {
    if (pathname.endsWith('/llmgateways')) response.end(list(gateway));
    else if (pathname.endsWith('/llmgateways/models')) response.end(JSON.stringify(gateway));
    else if (pathname.endsWith('/llmservices')) response.end(list(service('a', 'True')));
    else refuse(response, 404, 'not found');
  });
  const { terminal: screen, output } = terminal();
  const flags = ['-n', 'a', '--kubeconfig', api.kubeconfig];
  expect(await status(flags, screen)).toBe(0);
  expect(output.out).toMatch(/^NAME .*\ndemo .*\n\nGATEWAY .*\nmodels +True +Why/);
  expect(await status(['models', ...flags], screen)).toBe(0);
  expect(output.out).toContain('a/models: ready, Why: As it is.');
  await expect(status(['nobody', ...flags], screen)).rejects.toThrow('there is no LlmService nobody');
});

test('an API server that is away for a while does not end what is followed', async () => {
  let looks = 0;
  api = await startApi((_, response) => {
    looks += 1;
    if (looks === 2) response.destroy();
    else if (looks === 3) refuse(response, 503, 'shutting down');
    else response.end(JSON.stringify(service('a', looks === 1 ? 'False' : 'True')));
  });
  const { terminal: screen, output } = terminal();
  expect(await status(['demo', '-w', '--kubeconfig', api.kubeconfig], screen)).toBe(0);
  expect(output.out).toContain('does not answer and is asked again: shutting down');
  expect(output.out).toContain('a/demo: ready');
});

test('but what it refuses ends it', async () => {
  let looks = 0;
  api = await startApi((_, response) => {
    looks += 1;
    if (looks === 2) refuse(response, 403, 'llmservices is forbidden');
    else response.end(JSON.stringify(service('a', 'False')));
  });
  const watching = status(['demo', '-w', '--kubeconfig', api.kubeconfig], terminal().terminal);
  await expect(watching).rejects.toThrow('llmservices is forbidden');
});

test.each([
  ['is ready', { type: 'Ready', status: 'True', reason: 'Serving' }, 0, 'a/models: ready'],
  [
    'is refused',
    { type: 'Accepted', status: 'False', reason: 'InvalidSpec' },
    1,
    'Accepted=False InvalidSpec',
  ],
  ['is stopped', { type: 'Ready', status: 'False', reason: 'Stopped' }, 1, 'a/models: not ready, Stopped'],
])('a gateway is followed until it %s', async (_, last, code, said) => {
  let looks = 0;
  const starting = { type: 'Ready', status: 'False', reason: 'NoRouter', message: 'No router yet.' };
  api = await startApi(({ pathname }, response) => {
    if (!pathname.endsWith('/llmgateways/models')) {
      refuse(response, 404, 'not found');
      return;
    }
    looks += 1;
    const conditions = [looks < 3 ? starting : { message: 'So it is.', ...last }];
    response.end(JSON.stringify({ metadata: { name: 'models', namespace: 'a' }, status: { conditions } }));
  });
  const { terminal: screen, output } = terminal();
  const flags = ['-n', 'a', '--kubeconfig', api.kubeconfig];
  expect(await status(['models', '-w', ...flags], screen)).toBe(code);
  expect(output.out).toMatch(/^No router yet\.\n/);
  expect(output.out).toContain(said);
  expect(looks).toBe(3);
});
