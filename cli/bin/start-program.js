// Starts the program that the first argument names, or lists them.

/**
 * @param {string} command as people type it
 * @param {Record<string, { start: () => Promise<unknown>, does: string }>} programs
 * @param {{ start: () => Promise<unknown> }} versioned the one that reports the version
 */
export async function startProgram(command, programs, versioned) {
  const name = process.argv[2] ?? '--help';
  if (name === '--version') {
    await versioned.start();
  } else if (Object.hasOwn(programs, name)) {
    await programs[name].start();
  } else {
    const list = Object.entries(programs).map(([each, { does }]) => `  ${each.padEnd(8)} ${does}`);
    const help = `usage: ${command} COMMAND [options]\n\n${list.join('\n')}\n\n${command} COMMAND --help lists its options.\n`;
    const asked = name === '--help' || name === '-h' || name === 'help';
    (asked ? process.stdout : process.stderr).write(
      asked ? help : `${command}: no command ${name}\n\n${help}`,
    );
    process.exitCode = asked ? 0 : 2;
  }
}
