// Where the files of an archive lie (POSIX ustar and pax, GNU names), by its headers alone: contents are passed over.

import { StoreHttpError } from '../http/http-client.js';

export interface TarMember {
  readonly path: string;
  /** Of the content in the archive. */
  readonly begin: number;
  readonly bytes: number;
}

/** Bytes [begin, end) of the archive. */
export type ReadArchive = (begin: number, end: number) => Promise<Buffer>;

const blockBytes = 512;
/** A path, or a pax header. */
const maxTextBytes = 64 * 1024;

/** How many members may still be read, of this archive and others: each takes time and memory. */
export interface TarBudget {
  members: number;
}

/** Takes each file as it is found, before what lies behind it is read. @returns whether more are wanted */
export type TakeMember = (member: TarMember) => Promise<boolean>;

/**
 * @param archiveBytes Infinity: not known; `read` then gives zeros behind the end
 * @throws StoreHttpError where it is no archive, or has too many members
 */
export async function tarMembers(
  read: ReadArchive,
  archiveBytes: number,
  budget: TarBudget,
  take: TakeMember = () => Promise.resolve(true),
): Promise<readonly TarMember[]> {
  const members: TarMember[] = [];
  let named: { path?: string; bytes?: number } = {};
  for (let at = 0; at + blockBytes <= archiveBytes;) {
    const header = await read(at, at + blockBytes);
    if (header.every((byte) => byte === 0)) break;
    budget.members -= 1;
    if (budget.members < 0) throw new StoreHttpError('TooManyFiles', null, 'archives have too many files');
    checkSum(header);
    const type = String.fromCharCode(header[156] ?? 0);
    if (type === 'S') throw sparse();
    const bytes = (isFile(type) ? named.bytes : undefined) ?? numberIn(header, 124, 12);
    const begin = at + blockBytes;
    at = begin + Math.ceil(bytes / blockBytes) * blockBytes;
    if (begin + bytes > archiveBytes) throw notTar('is cut short');
    if (type === 'x' || type === 'L') {
      if (bytes > maxTextBytes) throw notTar('has a header of more than 64 KiB');
      const text = await read(begin, begin + bytes);
      named = type === 'x' ? { ...named, ...paxIn(text) } : { ...named, path: textTo0(text) };
      continue;
    }
    // Of all files, or the target of a link.
    if (type === 'g' || type === 'K') continue;
    const path = named.path ?? pathIn(header);
    named = {};
    if (!isFile(type)) continue;
    members.push({ path, begin, bytes });
    if (!(await take({ path, begin, bytes }))) break;
  }
  return members;
}

const isFile = (type: string): boolean => type === '0' || type === '\0' || type === '7';

function pathIn(header: Buffer): string {
  const name = textTo0(header.subarray(0, 100));
  const isUstar = header.toString('latin1', 257, 263) === 'ustar\0';
  const prefix = isUstar ? textTo0(header.subarray(345, 500)) : '';
  return prefix === '' ? name : `${prefix}/${name}`;
}

/** Records of the form `LENGTH KEY=VALUE\n`, whose lengths are in bytes. */
function paxIn(bytes: Buffer): { path?: string; bytes?: number } {
  const found: { path?: string; bytes?: number } = {};
  for (let at = 0; at < bytes.length;) {
    const [, length = ''] = /^(\d+) /.exec(bytes.toString('latin1', at, at + 20)) ?? [];
    const end = at + Number(length);
    if (length === '' || end <= at + length.length || end > bytes.length) throw notTar('has a broken header');
    const record = bytes.toString('utf8', at + length.length + 1, end - 1);
    const equals = record.indexOf('=');
    const [key, value] = [record.slice(0, equals), record.slice(equals + 1)];
    if (key.startsWith('GNU.sparse.')) throw sparse();
    if (key === 'path') found.path = value;
    if (key === 'size') found.bytes = sizeOf(Number(value));
    at = end;
  }
  return found;
}

/** Octal digits, or the big-endian number of GNU where the first bit is set. */
function numberIn(header: Buffer, at: number, length: number): number {
  const first = header[at] ?? 0;
  if ((first & 0x80) === 0)
    return sizeOf(parseInt(textTo0(header.subarray(at, at + length)).trim() || '0', 8));
  const above = header.subarray(at + 1, at + length - 8);
  // Negative, or more than 64 bits.
  if (first !== 0x80 || above.some((byte) => byte !== 0)) throw notTar('has a file of no size');
  return sizeOf(Number(header.readBigUInt64BE(at + length - 8)));
}

function sizeOf(value: number): number {
  if (!Number.isSafeInteger(value) || value < 0) throw notTar('has a file of no size');
  return value;
}

function checkSum(header: Buffer): void {
  const expected = numberIn(header, 148, 8);
  // Over the header with blanks in place of the sum.
  const sum = header.reduce((total, byte, at) => total + (at >= 148 && at < 156 ? 0x20 : byte), 0);
  if (sum !== expected) throw notTar('has a broken header');
}

/** Cut before it is text: a part of a string keeps the whole. */
function textTo0(bytes: Buffer): string {
  const end = bytes.indexOf(0);
  return bytes.toString('utf8', 0, end === -1 ? bytes.length : end);
}

/** Its holes are not in the archive: no range of it is the file. */
function sparse(): StoreHttpError {
  return new StoreHttpError('SparseArchive', null, 'a layer is a tar archive with sparse files');
}

function notTar(problem: string): StoreHttpError {
  return new StoreHttpError('BrokenArchive', null, `a layer that is to be a tar archive ${problem}`);
}
