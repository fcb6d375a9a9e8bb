import { expect, test } from '@jest/globals';
import { serviceOfHost } from './service-of-host.js';

const services = [
  { namespace: 'ns', name: 'demo', host: 'Demo.example.org' },
  { namespace: 'other', name: 'demo', host: null },
  { namespace: 'ns', name: 'twin-a', host: 'twins.example.org' },
  { namespace: 'ns', name: 'twin-b', host: 'twins.example.org' },
];

test.each<[string | undefined, string]>([
  ['demo.example.org', 'ns/demo'],
  ['DEMO.example.org:80', 'ns/demo'],
  ['demo.ns.svc', 'ns/demo'],
  ['demo.ns', 'ns/demo'],
  ['demo.other.svc.cluster.local', 'other/demo'],
  ['demo.other.svc.cluster.local.:8080', 'other/demo'],
  ['demo.other.svc.of.another.domain', 'other/demo'],
  ['demo', 'unknown'],
  ['demo.ns.svcs', 'unknown'],
  ['xdemo.ns.svc', 'unknown'],
  ['demo.third.svc', 'unknown'],
  ['example.org', 'unknown'],
  ['', 'unknown'],
  [undefined, 'unknown'],
  ['twins.example.org', 'ambiguous'],
])('%s means %s', (host, expected) => {
  const meant = serviceOfHost(host, services);
  const found = meant.state === 'found' ? `${meant.service.namespace}/${meant.service.name}` : meant.state;
  expect(found).toBe(expected);
});
