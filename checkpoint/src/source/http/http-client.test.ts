import { describe, expect, test } from '@jest/globals';
import { followRedirects } from './http-client.js';

const from = new URL('https://hub.example/file');
const ask = (location: string) => () =>
  Promise.resolve(new Response(null, { status: 302, headers: { location } }) as never);
const follow = (location: string) =>
  followRedirects(from, ask(location), () => Promise.reject(new Error('not asked for')));

describe('a redirect is refused', () => {
  test.each([
    ['to an address that is none', 'https://', 'InvalidRedirect'],
    ['to another scheme', 'file:///etc/passwd', 'InvalidRedirect'],
    ['with a user', 'https://user:word@storage.example/', 'InvalidRedirect'],
    ['without TLS', 'http://storage.example/', 'InsecureRedirect'],
    ['without end', '/file', 'TooManyRedirects'],
  ])('%s', async (_, location, code) => {
    await expect(follow(location)).rejects.toMatchObject({ code });
  });
});
