// A checkpoint as transformers saves it of a model without its head: names have no prefix, and the head is not there.

import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

type Header = Record<string, object>;

/** A new folder. @param dir of a checkpoint whose names begin with `model.` */
export function bareCopy(dir: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'llmservice-bare-'));
  cpSync(dir, folder, { recursive: true });
  rmSync(join(folder, 'model.safetensors.index.json'), { force: true });
  const map: Record<string, string> = {};
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.safetensors'))) {
    const bytes = readFileSync(join(folder, file));
    const end = 8 + Number(bytes.readBigUInt64LE(0));
    const header = JSON.parse(bytes.toString('utf8', 8, end)) as Header;
    const bare = Object.entries(header).map(([name, entry]) => {
      const own = name.replace(/^model\./, '');
      // Bytes that no tensor has are refused: those of the head stay, as a tensor that nobody reads.
      const stored = own === 'lm_head.weight' ? 'visual.unread' : own;
      if (stored !== '__metadata__') map[stored] = file;
      return [stored, entry] as const;
    });
    const text = Buffer.from(JSON.stringify(Object.fromEntries(bare)));
    const length = Buffer.alloc(8);
    length.writeBigUInt64LE(BigInt(text.length));
    writeFileSync(join(folder, file), Buffer.concat([length, text, bytes.subarray(end)]));
  }
  writeFileSync(
    join(folder, 'model.safetensors.index.json'),
    JSON.stringify({ metadata: {}, weight_map: map }),
  );
  return folder;
}
