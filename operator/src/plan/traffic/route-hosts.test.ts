import { expect, test } from '@jest/globals';
import { refusedHost } from './route-hosts.js';

test('hosts are limited by namespace only where there is a limit', () => {
  const routeHosts = [
    { namespace: 'team-a', host: '*.a.example.org' },
    { namespace: 'team-*', host: 'shared.example.org' },
  ];
  expect(refusedHost('any', 'x.example.org', [])).toBeNull();
  expect(refusedHost('team-a', 'x.a.example.org', routeHosts)).toBeNull();
  expect(refusedHost('team-b', 'shared.example.org', routeHosts)).toBeNull();
  expect(refusedHost('team-b', 'x.a.example.org', routeHosts)).toBe('shared.example.org');
  expect(refusedHost('team-a', 'x.y.a.example.org', routeHosts)).toBe('*.a.example.org, shared.example.org');
  expect(refusedHost('other', 'shared.example.org', routeHosts)).toBe('none');
});
