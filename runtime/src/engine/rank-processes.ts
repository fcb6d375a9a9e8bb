// A node's first rank's side of its other ranks: makes the memory that all share, forks a process for
// each, and reports when one is lost.

import type { Failure } from '@llmservice/crds';
import {
  groupState,
  makeSegment,
  type ArrivalMap,
  type EngineOptions,
  type GroupState,
  type RankPlace,
} from '@llmservice/native';
import { fork, type ChildProcess } from 'node:child_process';
import { closeSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { childEnvironment } from '../config/child-environment.js';
import { execArguments } from './exec-arguments.js';
import { inheritedStdio } from './inherited-stdio.js';

/** The compiled entry; the same file whether this module runs compiled or from source. */
const entry = fileURLToPath(new URL('../../dist/engine/rank-process.js', import.meta.url));

/** Where a rank's process finds the shared memory: after the standard streams and the channel. */
const inheritedSegment = 4;
/** And what of the weights is on disk. */
const inheritedArrivals = 5;

/** Ranks that compute see a loss themselves, and know what the lost one was at: they report first. */
const othersReportMs = 500;

export interface RankStart {
  readonly options: EngineOptions;
  readonly arrivals: ArrivalMap | null;
}

export interface RankMessage {
  readonly failure: Failure;
}

/** All ranks of an engine, and this node where there are several. */
export type RankGroup = Pick<RankPlace, 'size' | 'stages' | 'nodes'>;

/** All ranks that one node has of an engine but its first; they end with it or with this process. */
export class RankProcesses {
  /** Options of the first, which runs in this process. */
  readonly options: EngineOptions;
  readonly #onLost: (failure: Failure) => void;
  #closing = false;
  #joined = false;

  /**
   * @param options without a place
   * @param onLost called at least once after a rank fails or its process ends unasked
   * @param arrivals what of the weights is on disk, as for `loadEngine`
   * @param openFiles descriptors that the checkpoint's folders lead to
   * @throws SharedMemoryTooSmall
   */
  constructor(
    options: EngineOptions,
    { size, stages, nodes }: RankGroup,
    onLost: (failure: Failure) => void,
    arrivals: ArrivalMap | null = null,
    openFiles: readonly number[] = [],
  ) {
    this.#onLost = onLost;
    const segment = makeSegment(size, stages ?? 1);
    const here = size / (nodes?.count ?? 1);
    const first = here * (nodes?.index ?? 0);
    this.options = { ...options, place: { rank: first, size, segment, nodes, stages } };
    for (let rank = first + 1; rank < first + here; rank++)
      this.#start(rank, { size, nodes, segment, stages }, arrivals, openFiles);
  }

  /** How far the group is, until `joined`. */
  state(): GroupState | null {
    const { place } = this.options;
    return place === null || this.#joined ? null : groupState(place.segment, place.size);
  }

  /** Once all ranks have joined, their mappings hold the shared memory. */
  joined(): void {
    this.#joined = true;
    if (this.options.place !== null) closeSync(this.options.place.segment);
  }

  /** From now on ranks may end. */
  closing(): void {
    this.#closing = true;
  }

  #start(
    rank: number,
    { size, nodes, segment, stages }: Omit<RankPlace, 'rank'>,
    arrivals: ArrivalMap | null,
    openFiles: readonly number[],
  ): void {
    const shared = arrivals === null ? [segment] : [segment, arrivals.descriptor];
    const stdio = inheritedStdio(['ignore', 'inherit', 'inherit', 'ipc', ...shared], openFiles);
    const child = fork(entry, [], {
      serialization: 'advanced',
      execArgv: [...execArguments],
      stdio,
      env: childEnvironment(process.env),
    });
    child.on('message', ({ failure }: RankMessage) => this.#onLost(failure));
    child.on('error', (error) => this.#lost(rank, size, child, error.message));
    child.on('exit', (code, signal) =>
      this.#lost(rank, size, child, signal ?? `exit code ${code ?? 'unknown'}`),
    );
    const start: RankStart = {
      options: { ...this.options, place: { rank, size, segment: inheritedSegment, nodes, stages } },
      arrivals: arrivals === null ? null : { ...arrivals, descriptor: inheritedArrivals },
    };
    child.send(start, () => undefined);
  }

  #lost(rank: number, size: number, { pid }: ChildProcess, how: string): void {
    if (this.#closing) return;
    const process = pid === undefined ? 'its process' : `process ${String(pid)}`;
    const message = `Rank ${String(rank)} of ${String(size)} (${process}) ended: ${how}.`;
    setTimeout(() => this.#onLost({ reason: 'EngineFault', message }), othersReportMs);
  }
}
