import { describe, expect, test } from '@jest/globals';
import type { KubeObject } from '../../kube/types.js';
import { hostClaim, hostHolder, waitsForHostOf, type HostClaim } from './host-claims.js';

const host = 'chat.example.org';
const claim = (name: string, change: Partial<HostClaim> = {}): HostClaim => ({
  ...{
    kind: 'LlmService',
    namespace: 'ns',
    name,
    host,
    pathPrefix: '',
    createdAt: '2026-01-02T00:00:00Z',
    granted: false,
  },
  ...change,
});
const older = '2026-01-01T00:00:00Z';

describe('a host that two ask for', () => {
  test('is of the older one', () => {
    const old = claim('b', { createdAt: older });
    const young = claim('a');
    expect(hostHolder(young, [young, old])).toBe('ns/b');
    expect(hostHolder(old, [young, old])).toBeNull();
  });

  test('is of who has it already, however old the other one is', () => {
    const holder = claim('holder', { granted: true });
    const newcomer = claim('newcomer', { createdAt: older, namespace: 'evil' });
    expect(hostHolder(newcomer, [holder, newcomer])).toBe('ns/holder');
    expect(hostHolder(holder, [holder, newcomer])).toBeNull();
  });

  test('is of one of them where both were made in one second', () => {
    const both = [claim('a'), claim('a', { namespace: 'other' })];
    expect(both.map((each) => hostHolder(each, both))).toEqual([null, 'ns/a']);
  });
});

test.each([
  ['', '', true],
  ['', '/team', false],
  ['/a', '/b', false],
  ['/a', '/a', true],
  ['/a', '/ab', false],
  // Would take /openai/v1 of a service that has the whole host.
  ['', '/openai', true],
  ['/a', '/a/v1', true],
  ['/a', '/a/b', false],
])('prefixes %j and %j meet: %s', (one, other, meet) => {
  const first = claim('first', { pathPrefix: one, createdAt: older });
  const second = claim('second', { pathPrefix: other });
  expect(hostHolder(second, [first]) !== null).toBe(meet);
  const turned = { ...second, createdAt: '2020-01-01T00:00:00Z' };
  expect(hostHolder(first, [turned]) !== null).toBe(meet);
});

const object = (name: string, routing: object | undefined, status: object = {}): KubeObject => ({
  apiVersion: 'llmservice.dev/v1alpha1',
  kind: 'LlmService',
  metadata: { name, namespace: 'ns', creationTimestamp: older },
  spec: { routing },
  status,
});

test('a claim is what the spec asks for, granted where the status says so', () => {
  expect(hostClaim(object('a', undefined))).toBeNull();
  expect(hostClaim(object('a', { host, provider: 'none' }))).toBeNull();
  expect(hostClaim(object('a', { host, pathPrefix: '/x' }, { url: `http://${host}/x/` }))).toEqual(
    claim('a', { pathPrefix: '/x', createdAt: older, granted: true }),
  );
  expect(hostClaim(object('a', { host }, { url: 'http://a.ns.svc/' }))?.granted).toBe(false);
});

test('who waits for a host looks again when somebody who has it or had it changes', () => {
  const waiting = object('b', { host }, { conditions: [{ type: 'Routed', reason: 'HostTaken' }] });
  expect(waitsForHostOf(waiting, object('a', { host }))).toBe(true);
  expect(waitsForHostOf(waiting, object('a', { host: 'other' }, { url: `http://${host}/` }))).toBe(true);
  expect(waitsForHostOf(waiting, object('a', { host: 'other' }))).toBe(false);
  expect(waitsForHostOf(object('b', { host }), object('a', { host }))).toBe(false);
});
