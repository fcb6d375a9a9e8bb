// Settings of LoRA adapters: which are loaded with the model, and how many more may be.

import type { AdapterRoom } from '@llmservice/checkpoint';
import { resolve } from 'node:path';
import { between, defineFor } from './server-setting.js';

export interface NamedAdapter {
  readonly name: string;
  readonly uri: string;
}

export interface AdapterSettings {
  readonly adapters: readonly NamedAdapter[];
  /** Folder with a list of further ones, which may change; null: there is none. */
  readonly adaptersDir: string | null;
  /** That may be loaded at once; null: as many as `adapters` has. */
  readonly maxAdapters: number | null;
  readonly maxAdapterRank: number;
}

const define = defineFor<AdapterSettings>();

export const adapterSettings = [
  define(
    'adapters',
    '--adapters',
    'NAME=DIR|URI,…',
    'LoRA adapters to load with the model, each served under its name',
    [],
    asAdapters,
  ),
  define(
    'adaptersDir',
    '--adapters-dir',
    'DIR',
    'list of adapters, adapters.json, which may change while the server runs; it needs --max-adapters',
    null,
    String,
  ),
  define(
    'maxAdapters',
    '--max-adapters',
    'N',
    'adapters that may be loaded at once, up to 256, each with its room in the memory plan; without it, as many as --adapters names',
    null,
    between(0, 256),
  ),
  // vLLM's default too; the memory plan keeps room for adapters of that rank.
  define(
    'maxAdapterRank',
    '--max-adapter-rank',
    'N',
    'largest rank of an adapter, up to 256',
    16,
    between(1, 256),
  ),
] as const;

/** What the memory plan keeps for adapters. */
export function adapterRoomOf({
  adapters,
  maxAdapters,
  maxAdapterRank,
}: Omit<AdapterSettings, 'adaptersDir'>): AdapterRoom {
  return { max: maxAdapters ?? adapters.length, maxRank: maxAdapterRank };
}

/** Of an adapter, as names of models are written. */
const adapterName = /^[\w][\w.:/-]{0,199}$/;

/** @throws Error that says what was expected */
export function checkAdapterName(name: string): void {
  if (adapterName.test(name)) return;
  throw new Error(
    `the name ${JSON.stringify(name)} is none of an adapter: up to 200 letters, digits, and - _ . : / behind the first`,
  );
}

function asAdapters(text: string): NamedAdapter[] {
  const adapters = text
    .split(',')
    .filter((each) => each !== '')
    .map(asAdapter);
  const names = adapters.map(({ name }) => name);
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined) throw new Error(`the name ${JSON.stringify(twice)} is there twice`);
  return adapters;
}

function asAdapter(text: string): NamedAdapter {
  const at = text.indexOf('=');
  if (at === -1) throw new Error(`expected NAME=DIR or NAME=URI, found ${JSON.stringify(text)}`);
  const name = text.slice(0, at);
  checkAdapterName(name);
  const place = text.slice(at + 1);
  if (place === '') throw new Error(`the adapter ${name} has no place`);
  return { name, uri: placeOf(place) };
}

/** A URI as it is, a path from here on. */
export function placeOf(text: string): string {
  return /^\w+:\/\//.test(text) ? text : resolve(text);
}
