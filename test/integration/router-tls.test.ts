// A gateway's router as a process before pods that speak HTTPS, which small servers play.

import { once } from 'node:events';
import * as https from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, describe, expect, jest, test } from '@jest/globals';
import { Authority } from '../builders/certificates.js';
import { modelRoute, RouterProcess } from './router-process.js';

jest.setTimeout(120_000);

describe('pods that speak HTTPS', () => {
  const authority = new Authority('pods');
  const others = new Authority('others');
  const servers: https.Server[] = [];
  afterAll(() => {
    for (const each of [authority, others]) each.remove();
    for (const each of servers) each.close().closeAllConnections();
  });
  const url = async (name: string): Promise<string> => {
    const server = https.createServer(authority.issue(`${name}.default.svc`), (request, response) => {
      request.resume().once('end', () => response.end('{"model":"behind"}'));
    });
    servers.push(server);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return `https://secret.default.svc:${String((server.address() as AddressInfo).port)}`;
  };

  test('are asked where they show a certificate by their authorities for their name, and else get no byte', async () => {
    const routes = [
      modelRoute('right', await url('secret'), { ca: authority.cert }),
      modelRoute('signed-by-others', await url('secret'), { ca: others.cert }),
      modelRoute('of-another', await url('another'), { ca: authority.cert }),
    ];
    const own = await RouterProcess.start({ routes });
    try {
      const ask = async (model: string): Promise<[number, string]> => {
        const init = { method: 'POST', body: JSON.stringify({ model }) };
        const answer = await fetch(`${own.url}/v1/completions`, init);
        return [answer.status, await answer.text()];
      };
      expect(await ask('right')).toEqual([200, '{"model":"behind"}']);
      for (const model of ['signed-by-others', 'of-another'])
        expect(await ask(model)).toEqual([502, expect.stringContaining('upstream_unverified')]);
    } finally {
      await own.stop();
    }
  });
});
