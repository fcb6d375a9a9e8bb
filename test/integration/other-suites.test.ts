// What llama.cpp's and vLLM's own tests ask of their servers, asked of a replica: the same comes, or what the case says
// comes instead. The model is the demo's with a template that has tools.

import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { faultsOf } from '../conformance/suites/ask-case.js';
import { suiteCases } from '../conformance/suites/cases.js';
import { demoCheckpoint, ReplicaProcess } from './replica-process.js';

jest.setTimeout(120_000);

const chatTemplate = [
  '{%- if tools -%}<|im_start|>system\n{{ tools | tojson }} <tool_call>{"name": …}</tool_call><|im_end|>\n{%- endif -%}',
  '{%- for m in messages -%}{{- "<|im_start|>" + m.role + "\n" + m.content -}}',
  '{%- for call in m.tool_calls or [] -%}{{- "<tool_call>" + (call.function | tojson) + "</tool_call>" -}}{%- endfor -%}',
  '{{- "<|im_end|>\n" -}}{%- endfor -%}',
  '{%- if add_generation_prompt -%}{{- "<|im_start|>assistant\n" -}}',
  '{%- if enable_thinking is false -%}{{- "<think>\n\n</think>\n\n" -}}{%- endif -%}{%- endif -%}',
].join('');

const folder = mkdtempSync(join(tmpdir(), 'llmservice-suites-'));
let replica: ReplicaProcess;
beforeAll(async () => {
  cpSync(demoCheckpoint, folder, { recursive: true });
  const file = join(folder, 'tokenizer_config.json');
  const config = JSON.parse(readFileSync(file, 'utf8')) as object;
  writeFileSync(file, JSON.stringify({ ...config, chat_template: chatTemplate }));
  replica = await ReplicaProcess.start({ uri: folder });
  await replica.ready();
});
afterAll(async () => {
  await replica.stop();
  rmSync(folder, { recursive: true });
});

test.each(suiteCases.map((each) => [each.suite, each.file, each.what, each] as const))(
  '%s, %s: %s',
  async (_suite, _file, _what, each) => {
    expect(await faultsOf(each, replica.url)).toEqual([]);
  },
);

test('no case is there twice', () => {
  const names = suiteCases.map(({ suite, file, what }) => `${suite} ${file} ${what}`);
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
});
