// The descriptors that a child process begins with: streams, channel and what is handed to it at fixed places, then open
// files under the numbers that they have here, since paths name them by these.

type Inherited = 'inherit' | 'ignore' | 'ipc' | number;

/** @throws when a file has the number of a fixed place: Node itself holds more descriptors than there are such places */
export function inheritedStdio(places: readonly Inherited[], openFiles: readonly number[]): Inherited[] {
  const stdio: Inherited[] = [...places];
  for (const descriptor of openFiles) {
    if (descriptor < places.length)
      throw new Error(`descriptor ${String(descriptor)} is one of the process itself`);
    // A place that is ignored behind the standard streams is no descriptor of the child.
    while (stdio.length <= descriptor) stdio.push('ignore');
    stdio[descriptor] = descriptor;
  }
  return stdio;
}
