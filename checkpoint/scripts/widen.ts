// Writes a GGUF file of type Q4_1 as one of type BF16, which the engine reads.
// usage: tsx widen.ts FROM.gguf TO.gguf (needs `tsc --build checkpoint`); TO appears when it is whole

import { open, readFile, rename } from 'node:fs/promises';
import { widenGguf } from './widen-gguf.js';

const [from, to] = process.argv.slice(2);
if (from === undefined || to === undefined) throw new Error('usage: widen.ts FROM.gguf TO.gguf');
const handle = await open(`${to}.partial`, 'w');
for (const part of widenGguf(from, await readFile(from))) await handle.writeFile(part);
await handle.close();
await rename(`${to}.partial`, to);
