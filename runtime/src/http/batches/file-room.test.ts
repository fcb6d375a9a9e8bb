import { expect, test } from '@jest/globals';
import { FileRoom } from './file-room.js';

const refusal = (room: FileRoom, folder: string, bytes: number, isShared = true): string | null => {
  try {
    room.take(folder, bytes, isShared);
    return null;
  } catch (error) {
    return (error as { code: string }).code;
  }
};

test('no more is stored than there is room for, until something is deleted or was counted away', () => {
  const room = new FileRoom(100);
  expect(refusal(room, '', 100, false)).toBeNull();
  expect(refusal(room, '', 1, false)).toBe('server_busy');
  room.add('', -10);
  expect(refusal(room, '', 10, false)).toBeNull();
  room.counted(new Map([['', 20]]));
  expect([room.bytes, refusal(room, '', 80, false)]).toEqual([20, null]);
});

test('a key that stores much leaves others room', () => {
  const room = new FileRoom(900);
  while (refusal(room, 'flood', 10) === null);
  expect(room.bytes).toBe(600);
  expect(refusal(room, 'flood', 10)).toBe('rate_limit_exceeded');
  expect(refusal(room, 'other', 100)).toBeNull();
  expect(refusal(room, 'another', 100)).toBeNull();
});
