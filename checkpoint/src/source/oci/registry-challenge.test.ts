import { expect, test } from '@jest/globals';
import { challengeOf } from './registry-challenge.js';

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
