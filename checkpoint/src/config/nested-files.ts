// The files of a checkpoint that lie below its folder, where sentence-transformers keeps its modules. Folders of checkpoints
// are flat to all that read, pull and cache them; there such a file has a flat name.

/** Where sentence-transformers keeps how an embedder pools. */
export const poolingFolder = '1_Pooling';
/** Its flat name. */
export const poolingFile = `${poolingFolder}.config.json`;

const denseFolder = /^\d_Dense$/;
const configFile = 'config.json';
const weightsFile = 'model.safetensors';
const nested = /^(1_Pooling|\d_Dense)([./])(config\.json|model\.safetensors)$/;

/** Flat names of what is read of a folder below a checkpoint's; empty: nothing is. */
export function nestedFilesOf(folder: string): readonly string[] {
  if (folder === poolingFolder) return [poolingFile];
  return denseFolder.test(folder) ? [`${folder}.${configFile}`, `${folder}.${weightsFile}`] : [];
}

/** Whether it is the flat name of a file below the folder. */
export function isNestedFile(name: string): boolean {
  const [, folder = '', separator] = nested.exec(name) ?? [];
  return separator === '.' && nestedFilesOf(folder).includes(name);
}

/** Whether it is the flat name of weights. */
export function isNestedWeights(name: string): boolean {
  return isNestedFile(name) && name.endsWith(`.${weightsFile}`);
}

/** Where a file of a checkpoint is below its folder. */
export function pathOf(name: string): string {
  return isNestedFile(name) ? name.replace('.', '/') : name;
}

/** The flat name of a path that has one; else null. */
export function flatNameOf(path: string): string | null {
  const name = path.replace('/', '.');
  return name !== path && isNestedFile(name) ? name : null;
}
