import { expect, test } from '@jest/globals';
import { challengeOf, tokenUrl } from './registry-challenge.js';

const bearer = 'Bearer realm="https://auth.example/token",service="r.example",scope="repository:a:pull,push"';
const token = { scheme: 'bearer', realm: 'https://auth.example/token', service: 'r.example' };

test.each([
  [bearer, token],
  [`${bearer}, Basic realm="others", service="other"`, token],
  [`Basic realm="others", service="other", ${bearer}`, token],
  ['Bearer realm="https://a.example",realm="https://b.example"', { realm: 'https://a.example' }],
  ['bearer Realm = https://a.example', { scheme: 'bearer', realm: 'https://a.example', service: null }],
  ['Basic realm="Bearer realm=x"', { scheme: 'basic' }],
  ['Negotiate, Basic realm="r"', { scheme: 'basic' }],
  ['Bearer error="x", Basic realm="r"', { scheme: 'basic' }],
])('%s', (header, challenge) => {
  expect(challengeOf(header)).toMatchObject(challenge);
});

test.each([null, '', 'Negotiate', 'Bearer service="x"', 'realm="https://a.example"'])(
  '%s asks for nothing known',
  (header) => {
    expect(challengeOf(header)).toBeNull();
  },
);

const urlOf = (realm: string, origin: string): string =>
  tokenUrl({ scheme: 'bearer', realm, service: 'r' }, 'org/model', origin).href;

test.each([
  ['https://auth.example/token?a=b', 'https://r.example', 'https://auth.example/token?a=b&'],
  ['https://auth.example/token', 'http://r.example:5000', 'https://auth.example/token?'],
  ['http://r.example:5001/token', 'http://r.example:5000', 'http://r.example:5001/token?'],
])('the token server %s of %s is asked', (realm, origin, begin) => {
  expect(urlOf(realm, origin)).toBe(`${begin}service=r&scope=repository%3Aorg%2Fmodel%3Apull`);
});

test.each([
  ['http://auth.example/token', 'http://r.example', 'InsecureRedirect'],
  ['http://r.example/token', 'https://r.example', 'InsecureRedirect'],
  ...[
    '/token',
    '',
    'ftp://r.example/',
    'file:///etc/passwd',
    'https://user:word@r.example/',
    'https://u@r.example/',
  ].map((realm) => [realm, 'http://r.example', 'InvalidRealm'] as const),
])('the token server %s of %s is refused as %s', (realm, origin, code) => {
  expect(() => urlOf(realm, origin)).toThrow(expect.objectContaining({ code }));
});
