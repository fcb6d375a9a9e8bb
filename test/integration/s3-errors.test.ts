// Every error of the table of S3 errors, as the operator and as a pull read it: by the SDK's own parsing of a real answer,
// from a real S3 server where that gives it, and from a server with a certificate that nobody vouches for.

import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { s3ErrorTable } from '@llmservice/crds';
import { Authority } from '../builders/certificates.js';
import { freePort, run } from '../processes.js';
import { S3Server, s3Keys } from './s3-server.js';
import { verdictsOf, type Access, type Verdicts } from './s3-verdicts.js';

jest.setTimeout(120_000);

const program = fileURLToPath(new URL('s3-verdicts.ts', import.meta.url));

/** As `verdictsOf`, of connections that fail. */
async function verdictsInProcess(access: Access): Promise<Verdicts> {
  const { code, stdout, stderr } = await run(process.execPath, [
    '--import',
    'tsx',
    program,
    JSON.stringify(access),
  ]);
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as Verdicts;
}

/** The reason, once both sides agree on it and on what it means. */
function agreed({ operator, pull }: Verdicts): string {
  expect(pull).toBe(operator.reason === 'S3Unavailable' ? 'UnavailableError' : operator.reason);
  return operator.reason;
}

describe('an answer with', () => {
  let server: Server;
  let refuse: (response: ServerResponse) => void;
  beforeAll(async () => {
    server = createServer((_, response) => refuse(response)).listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  const endpoint = (): string => `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;

  /** Errors of connections have no answer; the server cannot give them. */
  const ofAnswers = s3ErrorTable.flatMap(({ codes, means, like, statuses }) =>
    codes
      .filter(
        (code) => !/^E[A-Z]+$|CERT|INVALID_CA|^HPE_|^ERR_|HOSTNAME|^EAI|TimeoutError|Provider/.test(code),
      )
      .map(
        (code) =>
          [
            code,
            statuses?.[0] ?? 400,
            like === undefined ? 'the words of S3' : 'the region is wrong',
            means,
          ] as const,
      ),
  );

  test.each(ofAnswers)('%s (%i, %s) is %s, to both sides', async (code, status, message, means) => {
    refuse = (response) => {
      response.writeHead(status, { 'content-type': 'application/xml' });
      response.end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>${message}</Message></Error>`);
    };
    const verdicts = await verdictsOf({ endpoint: endpoint() });
    // A list names no object: what is absent is the bucket, and nothing can have changed but what is listed anew.
    const ofList: Partial<Record<string, string>> = {
      objectAbsent: 'BucketNotFound',
      objectChanged: 'S3Unavailable',
    };
    const { reason, message: shown } = verdicts.operator;
    expect(reason).toBe(ofList[means] ?? means);
    if (means !== 'objectChanged') expect(agreed(verdicts)).toBe(reason);
    expect(shown).toContain(code);
    expect(shown).not.toContain(message);
  });

  test('no XML at all is an endpoint to wait for or to correct', async () => {
    refuse = (response) => response.writeHead(500, { 'content-type': 'text/html' }).end('<html>oops</html>');
    const { operator } = await verdictsOf({ endpoint: endpoint() });
    expect(operator.reason).toBe('S3Unavailable');
    expect(operator.message).not.toContain('oops');
  });
});

describe('a certificate', () => {
  const authority = new Authority('nobody knows it');
  let server: Server;
  beforeAll(async () => {
    const answer = (_: unknown, response: ServerResponse): void => void response.writeHead(403).end();
    server = createSecureServer(authority.issue('s3.test'), answer).listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
    authority.remove();
  });
  const at = (host: string): string => `https://${host}:${String((server.address() as AddressInfo).port)}`;

  test('of an unknown authority ends both sides, and is reported as what it is', async () => {
    expect(agreed(await verdictsInProcess({ endpoint: at('127.0.0.1') }))).toBe('S3CertificateUntrusted');
  });

  test('of an authority that was made anew under its name ends both too', async () => {
    const anew = new Authority('nobody knows it');
    try {
      const verdicts = await verdictsInProcess({ endpoint: at('127.0.0.1'), certificates: anew.cert });
      expect(agreed(verdicts)).toBe('S3CertificateUntrusted');
    } finally {
      anew.remove();
    }
  });

  test('for another host too', async () => {
    expect(agreed(await verdictsInProcess({ endpoint: at('localhost'), certificates: authority.cert }))).toBe(
      'S3CertificateUntrusted',
    );
  });

  test('of an authority that is given is trusted by both', async () => {
    expect(agreed(await verdictsInProcess({ endpoint: at('127.0.0.1'), certificates: authority.cert }))).toBe(
      'S3AccessDenied',
    );
  });
});

describe('without an answer', () => {
  test('a port where nobody listens is waited for', async () => {
    expect(
      agreed(await verdictsInProcess({ endpoint: `http://127.0.0.1:${String(await freePort())}` })),
    ).toBe('S3Unavailable');
  });

  test('a host without an address is waited for, and named', async () => {
    const verdicts = await verdictsInProcess({ endpoint: 'http://bucket.invalid' });
    expect(agreed(verdicts)).toBe('S3Unavailable');
    expect(verdicts.operator.message).toContain('spec.model.s3.endpoint has no address');
  });
});

describe('a real S3 server', () => {
  let s3: S3Server;
  beforeAll(async () => {
    s3 = await S3Server.start();
    s3.put('models', 'p', { 'config.json': '{}' });
  }, 300_000);
  afterAll(() => s3.stop());

  test.each<[string, Omit<Access, 'endpoint'>, string]>([
    ['an unknown bucket', { bucket: 'nowhere' }, 'BucketNotFound'],
    ['an unknown key', { keys: { ...s3Keys, accessKeyId: 'nobody' } }, 'S3AccessDenied'],
    ['a wrong secret', { keys: { ...s3Keys, secretAccessKey: 'wrong' } }, 'S3AccessDenied'],
    ['another region', { region: 'eu-west-1' }, 'S3RegionMismatch'],
  ])('asked with %s', async (_, access, reason) => {
    expect(agreed(await verdictsOf({ endpoint: s3.endpoint, ...access }))).toBe(reason);
  });
});
