import { expect, test } from '@jest/globals';
import type { Pod } from '../kube/types.js';
import { podUrl } from './ask-pod.js';

const pod = (port: string, podIP = '192.0.2.1'): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'demo-1' },
  spec: { containers: [{ name: 'runtime', ports: [{ name: port }] }] },
  status: { podIP },
});

test.each([
  ['by HTTP', pod('http'), 'http://192.0.2.1:8080'],
  ['by HTTPS where it has a certificate', pod('https'), 'https://192.0.2.1:8080'],
  ['at an IPv6 address', pod('http', '2001:db8::1'), 'http://[2001:db8::1]:8080'],
  ['not before it has an address', pod('http', ''), null],
])('a pod is asked %s', (_, asked, url) => {
  expect(podUrl(asked)).toBe(url);
});
