import { expect, test } from '@jest/globals';
import { credentialsFor } from './registry-credentials.js';

const auth = Buffer.from('user:pass:word').toString('base64');
const config = (auths: object): string => JSON.stringify({ auths });
const login = { username: 'user', password: 'pass:word' };

test.each([
  ['r.example', { 'r.example': { auth } }],
  ['r.example', { 'https://r.example/v1/': { auth } }],
  ['r.example', { 'r.example': { username: 'user', password: 'pass:word' } }],
  ['docker.io', { 'https://index.docker.io/v1/': { auth } }],
])('%s has credentials in %j', (registry, auths) => {
  expect(credentialsFor(registry, config(auths))).toEqual(login);
});

test.each([
  ['another registry', { 'other.example': { auth } }],
  ['another port', { 'r.example:5000': { auth } }],
  ['a name of objects in JavaScript', {}],
])('credentials of %s are no others', (_, auths) => {
  expect(credentialsFor('r.example', config(auths))).toBeNull();
  expect(credentialsFor('constructor', config(auths))).toBeNull();
});

test.each([
  ['{', 'is not JSON'],
  ['null', 'has no "auths"'],
  [config({ 'r.example': {} }), 'has no auth for r.example'],
  [config({ 'r.example': { auth: 'c2VjcmV0' } }), 'not USER:PASSWORD'],
  [config({ 'r.example': { auth, identitytoken: 'secret' } }), 'identity token'],
])('%s is refused, and nothing of it is shown', (text, words) => {
  const read = () => credentialsFor('r.example', text);
  expect(read).toThrow(words);
  expect(read).not.toThrow('secret');
});
