import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { PodAddresses } from './pod-addresses.js';

const records = new Map<string, readonly string[] | Error>();
const lookUp = async (host: string): Promise<readonly string[]> => {
  const found = await Promise.resolve(records.get(host));
  if (found === undefined) throw coded('ENOTFOUND');
  if (found instanceof Error) throw found;
  return found;
};
const coded = (code: string): Error => Object.assign(new Error(code), { code });

beforeEach(() => {
  records.clear();
  jest.useFakeTimers();
});
afterEach(() => void jest.useRealTimers());

test('every address of every name is a pod, once', async () => {
  records.set('prefill', ['10.0.0.1', '10.0.0.2']).set('10.0.0.2', ['10.0.0.2']);
  const addresses = new PodAddresses(['prefill', '10.0.0.2'], lookUp);
  expect(addresses.all).toEqual([]);
  await addresses.start();
  expect(addresses.all).toEqual(['10.0.0.1', '10.0.0.2']);
  addresses.stop();
});

test('pods come and go, and stay where the name server does not answer', async () => {
  records.set('prefill', ['10.0.0.1']);
  const addresses = new PodAddresses(['prefill'], lookUp);
  await addresses.start();
  records.set('prefill', ['10.0.0.3']);
  await jest.advanceTimersByTimeAsync(5_000);
  expect(addresses.all).toEqual(['10.0.0.3']);
  records.set('prefill', coded('EAI_AGAIN'));
  await jest.advanceTimersByTimeAsync(5_000);
  expect(addresses.all).toEqual(['10.0.0.3']);
  records.delete('prefill');
  await jest.advanceTimersByTimeAsync(5_000);
  expect(addresses.all).toEqual([]);
  addresses.stop();
});

test('an address is its own', async () => {
  jest.useRealTimers();
  const addresses = new PodAddresses(['127.0.0.3', '::1']);
  await addresses.refresh();
  expect(addresses.all).toEqual(['127.0.0.3', '::1']);
});
