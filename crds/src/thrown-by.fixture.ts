// The error that a call ends with, to look at more than one of its properties.

/** @throws what is of another class, or an error of its own when nothing is thrown */
export function thrownBy<E extends Error>(kind: abstract new (...args: never) => E, run: () => unknown): E {
  try {
    run();
  } catch (error) {
    if (error instanceof kind) return error;
    throw error;
  }
  throw new Error(`expected ${kind.name}, but nothing was thrown`);
}
