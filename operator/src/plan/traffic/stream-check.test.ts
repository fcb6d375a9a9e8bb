import { expect, test } from '@jest/globals';
import { gatewayEntrance, type GatewayObject } from './gateway-entrance.js';
import { judgeArrivals, type Arrival } from './stream-check.js';

const sent = [0, 200, 400, 600, 800];
/** @param at when each came, by a clock that began long ago */
const arrivals = (at: readonly number[]): Arrival[] =>
  at.map((atMs, index) => ({ sentMs: sent[index] ?? 0, atMs: 5_000_000 + atMs }));

test.each<[string, number[], object]>([
  [
    'events that come as they are sent stream',
    [3, 203, 404, 603, 803],
    { state: 'streams', minGapMs: 199, maxGapMs: 201 },
  ],
  ['so do those that a busy machine reads late', [3, 290, 404, 603, 803], { state: 'streams' }],
  ['all at the end were kept back', [806, 806, 806, 807, 807], { state: 'buffered', heldMs: 799 }],
  ['two by two as well', [203, 203, 603, 603, 803], { state: 'buffered', heldMs: 200 }],
  ['and whatever waits for the first few', [403, 403, 403, 603, 803], { state: 'buffered', heldMs: 400 }],
])('%s', (_, at, expected) => {
  expect(judgeArrivals(arrivals(at))).toMatchObject(expected);
});

test('a server that sends late is not taken for a proxy that holds', () => {
  const late = [
    { sentMs: 0, atMs: 10 },
    { sentMs: 900, atMs: 910 },
    { sentMs: 905, atMs: 915 },
  ];
  expect(judgeArrivals(late)).toMatchObject({ state: 'streams' });
});

const gateway = (listeners: object[], addresses: object[] = [{ value: '192.0.2.1' }]): GatewayObject =>
  ({
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'Gateway',
    metadata: { name: 'public' },
    spec: { listeners },
    status: { addresses },
  }) as never;
const http = { protocol: 'HTTP', port: 80 };

test.each<[string, GatewayObject, string | null]>([
  ['its address and the listener', gateway([http]), 'http://192.0.2.1:80'],
  [
    'HTTPS before HTTP',
    gateway([http, { protocol: 'HTTPS', port: 443, hostname: '*.example.org' }]),
    'https://192.0.2.1:443',
  ],
  [
    'the listener of the host',
    gateway([
      { ...http, hostname: 'other.org' },
      { ...http, port: 81 },
    ]),
    'http://192.0.2.1:81',
  ],
  ['an address of six parts', gateway([http], [{ value: '2001:db8::1' }]), 'http://[2001:db8::1]:80'],
  ['nowhere without an address', gateway([http], []), null],
  ['nowhere without a listener', gateway([{ protocol: 'TCP', port: 5 }]), null],
])('a Gateway is entered by %s', (_, object, expected) => {
  expect(gatewayEntrance(object, 'demo.example.org')).toBe(expected);
});
