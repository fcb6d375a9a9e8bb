// The one file of a checkpoint that lies below its folder. Folders of checkpoints are flat to all that read, pull and cache
// them; there it has a flat name.

/** Where sentence-transformers keeps how an embedder pools. */
export const poolingFolder = '1_Pooling';
/** Its flat name. */
export const poolingFile = `${poolingFolder}.config.json`;

/** Where a file of a checkpoint is below its folder. */
export function pathOf(name: string): string {
  return name === poolingFile ? `${poolingFolder}/config.json` : name;
}
