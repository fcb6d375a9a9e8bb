import { expect, test } from '@jest/globals';
import { UsageError } from '../command-line.js';
import { parsePlanOptions } from './plan-options.js';

test('what is not said has its default', () => {
  expect(parsePlanOptions(['-f', 'a.yaml'])).toEqual({
    ...{ sources: ['a.yaml'], namespace: 'default', folders: new Map(), objects: false, diff: false },
    ...{
      output: 'text',
      pricePerDeviceHour: null,
      meanTokens: 2048,
      image: null,
      gateway: null,
      cluster: {},
    },
  });
});

test('folders stand for the checkpoints of one service or of all', () => {
  const options = parsePlanOptions([
    ...['-f', '-', '-f', 'dir', '--checkpoint', 'file:///models/a', '--checkpoint', 'ns/b=./models/b'],
    ...['--price-per-device-hour', '2.5', '--gateway', 'gateways/public', '-o', 'json'],
  ]);
  expect(options).toMatchObject({ sources: ['-', 'dir'], pricePerDeviceHour: 2.5, output: 'json' });
  expect(options?.folders).toEqual(
    new Map([
      ['', '/models/a'],
      ['ns/b', './models/b'],
    ]),
  );
  expect(options?.gateway).toEqual({ namespace: 'gateways', name: 'public' });
});

test('help is asked for', () => {
  expect(parsePlanOptions(['--help'])).toBeNull();
});

test.each([
  ['no manifest', [], '-f is required'],
  ['an unknown flag', ['-f', 'a', '--fast'], '--fast'],
  ['a manifest without -f', ['-f', 'a', 'b.yaml'], 'b.yaml: manifests are named by -f'],
  ['an unknown output', ['-f', 'a', '-o', 'xml'], '--output must be text or json'],
  ['no price', ['-f', 'a', '--price-per-device-hour', 'free'], '--price-per-device-hour must be a number'],
  ['half a gateway', ['-f', 'a', '--gateway', 'public'], '--gateway must be NAMESPACE/NAME'],
])('%s is refused', (_name, args, part) => {
  expect(() => parsePlanOptions(args)).toThrow(UsageError);
  expect(() => parsePlanOptions(args)).toThrow(part);
});
