import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from '@jest/globals';
import { list, refuse, startApi, terminal, type ApiStandIn } from './api-stand-in.fixture.js';
import { logs } from './logs.js';

let api: ApiStandIn;
/** From when on pods may not be listed, which ends what follows them. */
let enough: boolean;
afterEach(() => api.stop());

/** A pod whose only container has been started again, and what its logs answer. */
async function start(log: (query: URLSearchParams, response: ServerResponse) => void): Promise<void> {
  const runtime = {
    ...{ name: 'runtime', ready: true, restartCount: 1, state: { running: {} } },
    lastState: { terminated: { exitCode: 1 } },
  };
  enough = false;
  const pod = { metadata: { name: 'demo-1', uid: 'u' }, status: { containerStatuses: [runtime] } };
  api = await startApi(({ pathname, searchParams }, response) => {
    if (pathname.endsWith('/log')) log(searchParams, response);
    else if (!pathname.endsWith('/pods')) response.end(JSON.stringify({ metadata: { name: 'demo' } }));
    else if (enough) refuse(response, 403, 'pods is forbidden');
    else response.end(list(pod));
  });
}

test('the log of a run before that is not kept is reported, and that of the one that runs is printed', async () => {
  await start((query, response) => {
    if (query.get('previous') === 'true') refuse(response, 400, 'previous terminated container not found');
    else response.end('2026-01-01T00:00:00Z runs\n');
  });
  const { terminal: screen, output } = terminal();
  expect(await logs(['demo', '--kubeconfig', api.kubeconfig], screen)).toBe(0);
  expect(output.out).toBe('runs\n');
  expect(output.error).toContain('demo-1 runtime: previous terminated container not found');
});

test('a log that breaks off is followed on from its last line', async () => {
  const lines = ['01.5', '02.1', '02.2', '03.0'].map((at) => `2026-01-01T00:00:${at}Z line ${at}\n`);
  const asked: (string | null)[] = [];
  let breakOff: () => void = () => undefined;
  await start((query, response) => {
    if (query.get('previous') === 'true') {
      response.end();
      return;
    }
    asked.push(query.get('sinceTime'));
    // The first reading sees two lines and breaks off; the API server gives whole seconds.
    if (asked.length === 1) {
      response.write(lines.slice(0, 2).join(''));
      breakOff = () => response.destroy();
    } else {
      response.write(lines.slice(1).join(''));
    }
  });
  const { terminal: screen, output } = terminal();
  const following = logs(['demo', '-f', '--kubeconfig', api.kubeconfig], screen);
  while (!output.out.includes('line 02.1')) await sleep(5);
  breakOff();
  while (!output.out.includes('line 03.0')) await sleep(5);
  enough = true;
  await expect(following).rejects.toThrow('pods is forbidden');
  expect(output.out.split('\n')).toEqual([
    ...['01.5', '02.1', '02.2', '03.0'].map((at) => `demo-1 line ${at}`),
    '',
  ]);
  expect(asked).toEqual([null, '2026-01-01T00:00:02.1Z']);
});
