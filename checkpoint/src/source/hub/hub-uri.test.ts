import { expect, test } from '@jest/globals';
import { parseHubUri } from './hub-uri.js';

test.each([
  ['hf://Qwen/Qwen3-0.6B', ['Qwen/Qwen3-0.6B', 'main', '', null]],
  ['hf://Qwen/Qwen3-0.6B/', ['Qwen/Qwen3-0.6B', 'main', '', null]],
  ['hf://Qwen/Qwen3-0.6B@v1.0', ['Qwen/Qwen3-0.6B', 'v1.0', '', null]],
  ['hf://Qwen/Qwen3-0.6B@refs%2Fpr%2F1/fp8', ['Qwen/Qwen3-0.6B', 'refs/pr/1', 'fp8/', null]],
  ['hf://o/n/a//b/', ['o/n', 'main', 'a/b/', null]],
  ['hf://o/n/Q4_K_M/m-00001-of-00002.gguf', ['o/n', 'main', 'Q4_K_M/', 'm-00001-of-00002.gguf']],
])('%s', (uri, [repository, revision, folder, file]) => {
  expect(parseHubUri(uri)).toEqual({ repository, revision, folder, file });
});

test.each([
  ...[
    'hf://',
    'hf://model',
    'hf:///model',
    'hf://o/n@',
    'hf://o/n@/fp8',
    'hf://o/n?x',
    'hf://o/n#x',
    'hf://o/n m',
  ],
  ...['hf://../etc', 'hf://o/..', 'hf://o/n/../m', 'hf://o/n@%zz', 's3://o/n', 'HF://o/n', 'https://o/n'],
])('%s is none', (uri) => {
  expect(parseHubUri(uri)).toBeNull();
});
