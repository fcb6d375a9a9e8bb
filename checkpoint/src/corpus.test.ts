// Files that once mattered, in corpus/: each is read whole or refused with a reason, the sound ones read.

import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import { FailureError } from '@llmservice/crds';
import { parseCheckpointConfig } from './config/read-config.js';
import { readGgufCheckpoint } from './formats/gguf-checkpoint.js';
import { parseGgufHeader } from './formats/gguf-header.js';
import { headerLengthBytes, SafetensorsHeaderReader } from './formats/safetensors-header.js';
import { parseHeaderLength } from './formats/safetensors.js';

const corpus = fileURLToPath(new URL('../corpus/', import.meta.url));

const readers: Readonly<Record<string, (bytes: Buffer) => unknown>> = {
  config: (bytes) => parseCheckpointConfig(bytes.toString()),
  gguf: (bytes) => {
    const header = parseGgufHeader('model.gguf', bytes, bytes.length, { arrays: true });
    if (header === null) throw new Error('the header cannot continue behind the file');
    return readGgufCheckpoint(header);
  },
  safetensors: (bytes) => {
    const length = parseHeaderLength('model.safetensors', bytes, bytes.length);
    const reader = new SafetensorsHeaderReader('model.safetensors');
    reader.write(bytes.subarray(headerLengthBytes, headerLengthBytes + length));
    return reader.end(bytes.length);
  },
};

describe.each(Object.entries(readers))('%s', (kind, read) => {
  test.each(readdirSync(`${corpus}${kind}`))('%s', (name) => {
    const bytes = readFileSync(`${corpus}${kind}/${name}`);
    const outcome = (): string => {
      try {
        read(bytes);
        return 'read';
      } catch (error) {
        if (error instanceof FailureError) return error.reason;
        throw error;
      }
    };
    const isSound = /^(llama|qwen|two|empty)/.test(name);
    expect(outcome() === 'read').toBe(isSound);
  });
});
