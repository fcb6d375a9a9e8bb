import { expect, test } from '@jest/globals';
import { embeddedIPv4, isIn, kindOf, rangesOf } from './address-ranges.js';

test.each([
  // Metadata and credentials of clouds.
  '169.254.169.254',
  '169.254.170.2',
  '168.63.129.16',
  '192.0.0.192',
  '100.100.100.200',
  'fd00:ec2::254',
  'fd00:ec2::23',
  'fd20:ce::254',
  'fd00:c1::a9fe:a9fe',
  'fe80::1',
  'fe80::1%eth0',
  // The same within other addresses: mapped, compatible, NAT64 (both prefixes), 6to4, Teredo.
  '::ffff:169.254.169.254',
  '::ffff:a9fe:a9fe',
  '::a9fe:a9fe',
  '64:ff9b::169.254.169.254',
  '64:ff9b::a83f:8110',
  '64:ff9b:1::a9fe:a9fe',
  '64:ff9b:1:a9fe:a9:fe00::',
  '2002:a9fe:a9fe::1',
  '2001:0:1:2:3:4:5601:5601',
  // No machine's address.
  '0.0.0.0',
  '0.1.2.3',
  '::',
  '::ffff:0.0.0.0',
  '224.0.0.1',
  'ff02::1',
  '255.255.255.255',
])('%s is never connected to', (address) => {
  expect(kindOf(address)).toBe('forbidden');
});

test.each([
  ...['127.0.0.1', '127.1.2.3', '::1', '::ffff:127.0.0.1', '::ffff:7f00:1', '64:ff9b::7f00:1'],
  ...['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', '100.64.0.1', '192.0.2.1', '198.18.0.1'],
  ...['fc00::1', 'fd12:3456::1', 'fec0::1', '::ffff:10.0.0.1', '64:ff9b::10.0.0.1', '64:ff9b:1::808:808'],
  ...['2002:808:808::1', '2001::f7f7:f7f7', '2001:db8::1', '4000::1', '8000::1', '100::1', '192.88.99.1'],
])('%s is not public', (address) => {
  expect(kindOf(address)).toBe('internal');
});

test.each([
  ...[
    '8.8.8.8',
    '1.1.1.1',
    '172.32.0.1',
    '172.15.0.1',
    '100.63.0.1',
    '100.128.0.1',
    '169.253.0.1',
    '11.0.0.1',
  ],
  ...['2600:1f18::1', '2a00:1450:4001:80b::200e', '::ffff:8.8.8.8', '64:ff9b::8.8.8.8', '223.255.255.255'],
])('%s is public', (address) => {
  expect(kindOf(address)).toBe('public');
});

test('an address within another one is found', () => {
  expect(embeddedIPv4('64:ff9b:1:a9fe:a9:fe00::')).toBe('169.254.169.254');
  expect(embeddedIPv4('2001:0:1:2:3:4:5601:5601')).toBe('169.254.169.254');
  expect(embeddedIPv4('2600::1')).toBeNull();
  expect(embeddedIPv4('10.0.0.1')).toBeNull();
});

test('ranges of one family hold none of the other', () => {
  expect(isIn(rangesOf(['::/0']), '10.0.0.1')).toBe(false);
  expect(isIn(rangesOf(['10.0.0.0/8', '192.168.1.1']), '192.168.1.1')).toBe(true);
});

test.each(['10.0.0.0/33', '10.0.0.0/', '10.0.0.0/8/8', 'example.org', '::/129', '', '10.0.0.0/a'])(
  '%j is no range',
  (text) => {
    expect(() => rangesOf([text])).toThrow(RangeError);
  },
);
