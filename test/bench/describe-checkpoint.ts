// Writes FOLDER/description.json, by which llmservice_bench loads a checkpoint: npx tsx test/bench/describe-checkpoint.ts FOLDER

import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { openCheckpoint } from '@llmservice/checkpoint/local';
import { describeCheckpoint } from '../../native/ts/describe-checkpoint.js';

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('usage: npx tsx test/bench/describe-checkpoint.ts FOLDER');
const checkpoint = await openCheckpoint(resolve(folder));
writeFileSync(join(folder, 'description.json'), describeCheckpoint(checkpoint, 'none'));
