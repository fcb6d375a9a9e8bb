import { expect, test } from '@jest/globals';
import { serviceOfHost } from './service-of-host.js';

const service = (key: string, host: string | null = null, day = 1) => {
  const [namespace = '', name = ''] = key.split('/');
  return { namespace, name, host, createdAt: `2026-01-0${String(day)}T00:00:00Z` };
};
const services = [
  service('evil/x', 'demo.ns.svc'),
  service('evil/y', 'demo.ns'),
  service('evil/z', 'gone.ns.svc.cluster.local'),
  service('svc/demo.ns'),
  service('ns/demo', 'Demo.example.org', 2),
  service('other/demo'),
  service('evil/later', 'demo.example.org', 3),
  service('ns/twin-b', 'twins.example.org'),
  service('ns/twin-a', 'twins.example.org'),
  service('ns/short', 'example.org'),
];

test.each<[string | undefined, string | null]>([
  ['demo.example.org', 'ns/demo'],
  ['DEMO.example.org:80', 'ns/demo'],
  ['demo.ns.svc', 'ns/demo'],
  ['demo.ns.svc:80', 'ns/demo'],
  ['demo.ns', 'ns/demo'],
  ['demo.other.svc.cluster.local', 'other/demo'],
  ['demo.other.svc.cluster.local.:8080', 'other/demo'],
  ['demo.other.svc.of.another.domain', 'other/demo'],
  ['gone.ns.svc.cluster.local', null],
  ['demo', null],
  ['demo.ns.svcs', null],
  ['xdemo.ns.svc', null],
  ['demo.third.svc', null],
  ['example.org', 'ns/short'],
  ['third.example.org', null],
  ['', null],
  [undefined, null],
  ['twins.example.org', 'ns/twin-a'],
])('%s means %s', (host, expected) => {
  const meant = serviceOfHost(host, services);
  expect(meant === null ? null : `${meant.namespace}/${meant.name}`).toBe(expected);
});
