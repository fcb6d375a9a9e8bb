// From the URI of a checkpoint to the source that its files are read from, and to the folder that they lie in or are
// pulled to: one of this pod alone, or one of the node's cache.

import { checkpointPin } from '@llmservice/checkpoint';
import { join } from 'node:path';
import { allowedFolders } from './allowed-uris.js';
import type { CacheEntry, WeightsCache } from './cache/weights-cache.js';
import type { CheckpointSource, FileVersion } from './checkpoint-source.js';
import {
  checkpointFolderName,
  mountedArtifact,
  parseCheckpointUri,
  readableName,
  type CheckpointUri,
  type UriField,
} from './checkpoint-uri.js';
import { FolderSource, type Links } from './folder-source.js';
import type { Attempt } from './inspect-checkpoint.js';
import { ListedSource } from './listed-source.js';
import { mountedFolder } from './mounted-folder.js';
import type { PullObserver } from './pull-files.js';
import type { Sleep } from './retry.js';
import { openStore, type OciSettings, type OpenStore, type StoreSettings } from './open-store.js';
import { RemoteSource } from './remote-source.js';
import { roomIn, type Room } from './weights-disk.js';

export interface OpenSource {
  readonly source: CheckpointSource;
  /** The GGUF file that is meant; null for the folder. */
  readonly file: string | null;
  /** Where the files lie, or are to be pulled to. */
  readonly dir: string;
  /** Nothing is to be pulled. */
  readonly isComplete: boolean;
  /** Other pods write to the folder: who reads files of it does so through a view. */
  readonly isShared: boolean;
  readonly room: Room;
  /** All is in the folder and verified: other pods of the node may have it too. */
  readonly commit: (files: readonly FileVersion[]) => Promise<void>;
  /** Nothing more is read of the source. Idempotent. */
  readonly disconnect: () => void;
  /** The files are not read any more. Disconnects. Idempotent. */
  readonly release: () => void;
}

export interface SourceSettings {
  /** Where there is no cache, pulled checkpoints lie in folders of their own below it. */
  readonly weightsDir: string;
  /** Null: files that are pulled are of this process alone. */
  readonly cache: WeightsCache | null;
  readonly stores: StoreSettings;
  /** Beside the configured one; files of local checkpoints may be links into their folders. */
  readonly allowedUris: readonly string[];
  readonly observer: PullObserver;
  readonly sleep: Sleep;
  readonly signal: AbortSignal;
}

/** Which of a checkpoint's files are pulled, where the cache distinguishes such pulls by their names. */
export interface Part {
  /** What the checkpoint was when it was planned; null: not known. */
  readonly pin: string | null;
  readonly suffix: '' | '-mtp' | '-eagle3' | '-draft_model';
}

const nothing = (): void => undefined;

/** @throws FailureError InvalidEngineConfig, and as `WeightsCache.claim` */
export async function openSource(
  field: UriField,
  text: string,
  part: Part,
  settings: SourceSettings,
  attempt: Attempt,
): Promise<OpenSource> {
  const uri = whereItLies(field, text, settings.stores.oci);
  if (uri.kind === 'folder') {
    const links = { alsoInto: await allowedFolders(settings.allowedUris) };
    const shown = uri.mounted === null ? undefined : await mountedFolder(uri.dir, uri.mounted);
    return { ...complete(uri.dir, links, shown), file: uri.file, release: nothing };
  }
  const store = openStore(uri, settings.stores, settings.signal, () => settings.observer.alive());
  const { disconnect } = store;
  const source = new RemoteSource(store.bytes);
  const dir = join(settings.weightsDir, checkpointFolderName(text) + part.suffix);
  try {
    if (settings.cache === null)
      return { ...pulled(source, dir), file: uri.file, disconnect, release: disconnect };
    const held = await claim(settings.cache, source, { folder: store.folder, text, part, settings, attempt });
    const release = (): void => {
      disconnect();
      held.entry.release();
    };
    const { dir: entryDir, isComplete, room, commit } = held.entry;
    if (isComplete)
      return { ...complete(entryDir, 'refused'), isShared: true, file: uri.file, disconnect, release };
    return {
      source: held.source,
      file: uri.file,
      dir: entryDir,
      isComplete,
      isShared: true,
      room,
      commit,
      disconnect,
      release,
    };
  } catch (error) {
    disconnect();
    throw error;
  }
}

function whereItLies(field: UriField, text: string, { mounted }: OciSettings): CheckpointUri {
  const uri = parseCheckpointUri(field, text);
  return uri.kind === 'oci' && mounted === text ? mountedArtifact(uri.place) : uri;
}

type Lying = Omit<OpenSource, 'file' | 'release'>;

/** @param shown its URI, where it has one */
function complete(dir: string, links: Links, shown?: string): Lying {
  return { ...pulled(new FolderSource(dir, links, shown), dir), isComplete: true };
}

function pulled(source: CheckpointSource, dir: string): Lying {
  const commit = (): Promise<void> => Promise.resolve();
  return { source, dir, isComplete: false, isShared: false, room: roomIn(dir), commit, disconnect: nothing };
}

interface Wanted {
  readonly folder: OpenStore['folder'];
  readonly text: string;
  readonly part: Part;
  readonly settings: SourceSettings;
  readonly attempt: Attempt;
}

/** By its pin alone where the cache has that; otherwise by what is in the store now. */
async function claim(
  cache: WeightsCache,
  source: RemoteSource,
  { folder, text, part, settings, attempt }: Wanted,
): Promise<{ readonly entry: CacheEntry; readonly source: CheckpointSource }> {
  const origin = `${folder.endpoint ?? 'aws'} ${source.uri}`;
  const nameOf = (pin: string): string => `${readableName(text)}-${pin}${part.suffix}`;
  const entry = part.pin === null ? null : await cache.claim(nameOf(part.pin), origin, settings);
  if (entry?.isComplete === true) return { entry, source };
  try {
    const listing = await attempt(() => source.list());
    const pin = checkpointPin(folder, listing);
    const listed = new ListedSource(source, listing);
    if (entry !== null && pin === part.pin) return { entry, source: listed };
    entry?.release();
    return { entry: await cache.claim(nameOf(pin), origin, settings), source: listed };
  } catch (error) {
    entry?.release();
    throw error;
  }
}
