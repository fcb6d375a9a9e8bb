// Which shared libraries a file asks for, by its header and by the names in it that it opens, and where each comes from.
import { execFileSync } from 'node:child_process';

/** Opened by name, and not of the image: why. */
const elsewhere: Readonly<Record<string, string>> = {
  'libcuda.so.1': "the node's driver, by NVIDIA's container toolkit",
  'libnvidia-fatbinaryloader.so': "a part of the node's driver; UCX has its name",
  'libnccl.so.2': 'on request (engine.collectives)',
  'librccl.so.1': 'on request (engine.collectives)',
};

/** Of which one must be there. */
const alternatives = [['libamdhip64.so.7', 'libamdhip64.so.6', 'libamdhip64.so.5']];

export interface Place {
  readonly library: string;
  /** A path in the image, or who brings it; null: nobody does. */
  readonly from: string | null;
}

/** @returns sorted; those of the header and those that stand as a whole string in the file */
export function librariesOf(file: string): readonly string[] {
  const header = execFileSync('readelf', ['--dynamic', '--wide', file], { encoding: 'utf8' });
  const needed = [...header.matchAll(/\(NEEDED\).*\[(.+)\]/g)].map(([, name]) => name ?? '');
  const text = execFileSync('strings', ['-n', '6', file], { encoding: 'utf8', maxBuffer: 2 ** 29 });
  const opened = text.split('\n').filter((line) => /^lib[\w+-]+\.so(\.\d+)*$/.test(line));
  return [...new Set([...needed, ...opened])].sort();
}

/** @param find the path of a library in the image, if it has it */
export function placesOf(
  libraries: readonly string[],
  find: (library: string) => string | null,
): readonly Place[] {
  return libraries.map((library) => {
    const path = find(library);
    if (path !== null) return { library, from: path };
    const instead = alternatives
      .find((names) => names.includes(library))
      ?.find((name) => find(name) !== null);
    return {
      library,
      from: instead === undefined ? (elsewhere[library] ?? null) : `not needed beside ${instead}`,
    };
  });
}
