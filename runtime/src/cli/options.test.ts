import { expect, test } from '@jest/globals';
import { Command } from 'commander';
import { addSettingOptions } from './options.js';

const command = new Command();
addSettingOptions(command, { '--log-level': 'warn' });
const helpOf = (flag: string): string | undefined =>
  command.options.find(({ long }) => long === flag)?.description;

test.each([
  ['of the server', '--port', '(8080) [LLMSERVICE_PORT]'],
  ['of the engine', '--max-num-seqs', '(64) [MAX_NUM_SEQS]'],
  ['as the flag takes it', '--gpu-memory-utilization', '(0.85) [GPU_MEMORY_UTILIZATION]'],
  ['of a switch', '--enable-prefix-caching', '(true) [ENABLE_PREFIX_CACHING]'],
  ['of a run by hand', '--log-level', '(warn) [LLMSERVICE_LOG_LEVEL]'],
])('the help reports the default %s: %s', (_, flag, end) => {
  expect(helpOf(flag)).toContain(` ${end}`);
});

test('what has no default has none in its help', () => {
  expect(helpOf('--max-model-len')).not.toContain('(');
});
