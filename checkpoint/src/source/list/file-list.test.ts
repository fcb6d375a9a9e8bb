import { expect, test } from '@jest/globals';
import { readFileList } from './file-list.js';

const list = new URL('https://h.example/models/files.json');
const hash = `sha256:${'A1'.repeat(32)}`;
const entry = { path: 'config.json', bytes: 3, hash };
const read = (resources: unknown) => readFileList(Buffer.from(JSON.stringify({ resources })), list);

const urlOf = (resource: object): unknown => {
  const [[path, { url }] = ['', { url: null }]] = read([{ ...entry, ...resource }]);
  return [path, url?.href];
};

test('a path lies beside the list or below it, a URL anywhere under the name of its resource', () => {
  expect(urlOf({})).toEqual(['config.json', 'https://h.example/models/config.json']);
  expect(urlOf({ path: 'a b/c#1?.json' })).toEqual([
    'a b/c#1?.json',
    'https://h.example/models/a%20b/c%231%3F.json',
  ]);
  expect(urlOf({ path: 'a:b' })).toEqual(['a:b', 'https://h.example/models/a%3Ab']);
  const path = 'https://cdn.example/blobs/1?signature=x';
  expect(urlOf({ name: 'fp8/config.json', path })).toEqual(['fp8/config.json', path]);
});

test('a digest is read in either case', () => {
  expect(read([entry]).get('config.json')?.sha256).toBe('a1'.repeat(32));
});

test.each<[string, string, object]>([
  ...['..', '../x', 'a/../x', '/etc/passwd', 'a//b', './x', 'a/.', '', 'a\\..\\x', 'a\nb', '//h/x'].map(
    (path): [string, string, object] => ['InvalidPath', '.path', { path }],
  ),
  ['InvalidPath', '.path', { path: 'x'.repeat(1_025) }],
  ['InvalidPath', '.path', { path: 'a\ud800.json' }],
  ['InvalidPath', '.name', { path: 'https://h/x', name: '\udc00.json' }],
  ['InvalidPath', '.path', { path: ['a', 'b'] }],
  ['InvalidPath', '.path', { path: undefined, data: {} }],
  ['InvalidPath', '.path', { path: 'ftp://h/x' }],
  ['InvalidPath', '.path', { path: 'https://me:secret@h/x', name: 'x' }],
  ['InvalidPath', '.name', { path: 'https://h/x' }],
  ['InvalidPath', '.name', { path: 'https://h/x', name: '../x' }],
  ['InsecureAddress', '.path', { path: 'http://h/x', name: 'x' }],
  ['InvalidEntry', '.bytes', { bytes: -1 }],
  ['InvalidEntry', '.bytes', { bytes: '3' }],
  ['InvalidEntry', '.hash', { hash: 'd41d8cd98f00b204e9800998ecf8427e' }],
  ['InvalidEntry', '.hash', { hash: 'sha256:12' }],
])('%s: %s of %j is refused', (code, field, resource) => {
  const read_ = () =>
    read([
      { ...entry, path: 'first' },
      { ...entry, ...resource },
    ]);
  expect(read_).toThrow(expect.objectContaining({ code }));
  expect(read_).toThrow(`resources[1]${field}`);
});

test('a message has the first violations, and no text of the list', () => {
  const refused = Array.from({ length: 7 }, () => ({ ...entry, path: '../secret' }));
  const read_ = () => read(refused);
  expect(read_).toThrow(/resources\[4\].*; 2 more$/);
  expect(read_).not.toThrow('secret');
});

test('files that are named twice are refused', () => {
  expect(() => read([entry, entry])).toThrow('resources[1] names the file of an earlier one');
});
