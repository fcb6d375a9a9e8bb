// One setting of the server process: its names, its text for --help, and how its value is read from text.

import { readInteger, serverVariableNames } from '@llmservice/crds';

export interface ServerSetting<Settings, Key extends keyof Settings> {
  readonly key: Key;
  readonly env: string;
  readonly flag: string;
  readonly placeholder: string;
  readonly help: string;
  readonly fallback: Settings[Key];
  readonly read: (text: string) => Settings[Key];
}

export const mib = 1024 * 1024;

/** What defines settings of one group, each with the type that the group has for it. */
export const defineFor =
  <Settings>() =>
  <Key extends keyof Settings & keyof typeof serverVariableNames>(
    key: Key,
    flag: string,
    placeholder: string,
    help: string,
    fallback: Settings[Key],
    read: (text: string) => Settings[Key],
  ): ServerSetting<Settings, Key> => ({
    key,
    env: serverVariableNames[key],
    flag,
    placeholder,
    help,
    fallback,
    read,
  });

export function atLeast(minimum: number): (text: string) => number {
  return (text) => {
    const value = readInteger(text);
    if (value < minimum) throw new Error(`expected a whole number of at least ${String(minimum)}`);
    return value;
  };
}

export function between(minimum: number, maximum: number): (text: string) => number {
  return (text) => {
    const value = readInteger(text);
    if (value < minimum || value > maximum)
      throw new Error(`expected a whole number from ${String(minimum)} to ${String(maximum)}`);
    return value;
  };
}
