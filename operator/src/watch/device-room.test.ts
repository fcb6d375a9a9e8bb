import { expect, test } from '@jest/globals';
import { DeviceRoom } from './device-room.js';

const driver = 'gpu.amd.com';
const slice = (generation: number, names: string[]) => ({
  spec: {
    ...{ driver, nodeName: 'a', pool: { name: 'a', generation } },
    devices: names.map((name) => ({ name, attributes: { [`${driver}/type`]: { string: 'amdgpu' } } })),
  },
});
const claim = (device: string, uids: string[], change: object = {}) => ({
  status: {
    reservedFor: uids.map((uid) => ({ resource: 'pods', name: 'any', uid })),
    allocation: { devices: { results: [{ driver, pool: 'a', device, ...change }] } },
  },
});

test('a device is of the pods that its claim is reserved for; who only watches it takes none', async () => {
  const lists: Record<string, object[]> = {
    resourceslices: [slice(1, ['gone']), slice(2, ['held', 'kept', 'watched', 'free'])],
    resourceclaims: [
      claim('held', ['pod-1']),
      claim('kept', []),
      claim('watched', ['monitor'], { adminAccess: true }),
    ],
  };
  const client = {
    async *list(path: string) {
      await Promise.resolve();
      yield* lists[path.split('/').at(-1) ?? ''] ?? [];
    },
  };
  const devices = await new DeviceRoom(client as never).look();
  expect(devices?.map(({ holders }) => holders)).toEqual([['pod-1'], [], null, null]);
  expect(devices?.[0]).toMatchObject({ driver, node: 'a', attributes: { type: 'amdgpu' } });
});
