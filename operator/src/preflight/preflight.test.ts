import { expect, test } from '@jest/globals';
import { wantedService } from '../spec/wanted-service.fixture.js';
import { Preflight } from './preflight.js';

test('an endpoint that never answers is given up, and what was open is closed', async () => {
  let closed = false;
  const never = (): Promise<never> => new Promise(() => undefined);
  const folders = {
    at: () => ({ read: never, readOptional: never, list: never }),
    close: () => (closed = true),
  };
  const preflight = new Preflight({ open: () => Promise.resolve(folders) }, 50);
  expect(await preflight.resolve('a/b', wantedService())).toMatchObject({
    result: { state: 'unavailable', failure: { reason: 'S3Unavailable' }, known: null },
  });
  expect(closed).toBe(true);
});
