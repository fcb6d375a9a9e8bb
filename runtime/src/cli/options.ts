// Flags of `llmservice serve`, made from the tables of settings: --help lists each with its default and environment name.

import { Option, type Command } from 'commander';
import { engineDefaults } from '../config/resolve-config.js';
import { serverSettings } from '../config/server-settings.js';
import { settings } from '../config/settings.js';

/** Further defaults of a run by hand, where nobody gave a value. */
export type CommandLineDefaults = Readonly<Record<string, string>>;

export function addSettingOptions(command: Command, defaults: CommandLineDefaults): void {
  for (const setting of [...settings, ...serverSettings]) {
    const { flag, placeholder, help, env } = setting;
    const fallback =
      defaults[flag] ?? textOf('field' in setting ? fieldDefault(setting.field) : setting.fallback);
    const description = fallback === null ? `${help} [${env}]` : `${help} (${fallback}) [${env}]`;
    command.addOption(new Option(`${flag} <${placeholder}>`, description));
  }
}

/** As the flag takes it: a share of memory, not percents. */
function fieldDefault(field: string): unknown {
  const value = engineDefaults[field];
  return field === 'engine.memoryUtilizationPercent' ? Number(value) / 100 : value;
}

/** Null: nothing, or what the help says in words. */
function textOf(value: unknown): string | null {
  return ['string', 'number', 'boolean'].includes(typeof value) ? String(value) : null;
}

/** Texts by flag, as the resolver takes them; a default stands back behind the environment. */
export function flagsOf(
  options: Readonly<Record<string, string | undefined>>,
  env: Readonly<Record<string, string | undefined>>,
  defaults: CommandLineDefaults,
): Record<string, string | undefined> {
  return Object.fromEntries(
    [...settings, ...serverSettings].map((setting) => {
      const given = options[attributeOf(setting.flag)];
      const fallback = env[setting.env] === undefined ? defaults[setting.flag] : undefined;
      return [setting.flag, given ?? fallback];
    }),
  );
}

/** `--max-model-len` as commander stores it: maxModelLen. */
function attributeOf(flag: string): string {
  return new Option(`${flag} <x>`).attributeName();
}
