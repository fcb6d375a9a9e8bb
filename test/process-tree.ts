// What the kernel reports of running processes.

import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';

/** Direct children: of each thread, the first of them before others, in the order in which they were started. */
export function childPids(pid: number): number[] {
  const threads = readdirSync(`/proc/${String(pid)}/task`).toSorted((a, b) => Number(a) - Number(b));
  return threads.flatMap((thread) => childrenOf(pid, thread));
}

function childrenOf(pid: number, thread: string): number[] {
  try {
    const children = readFileSync(`/proc/${String(pid)}/task/${thread}/children`, 'utf8');
    return children.trim().split(' ').filter(Boolean).map(Number);
  } catch {
    // A thread that has ended.
    return [];
  }
}

/** An engine's process, then those of the ranks that it started. */
export function rankPids(engine: number): number[] {
  return [engine, ...childPids(engine).filter((pid) => scriptOf(pid) === 'rank-process.js')];
}

/** The same of a server's engine. */
export function enginePids(server: number): number[] {
  return childPids(server)
    .filter((pid) => scriptOf(pid) === 'engine-process.js')
    .flatMap(rankPids);
}

/** The process that an engine's grammars are compiled in; while it compiles, those that it forked are its children. */
export function grammarPid(engine: number): number {
  const pid = childPids(engine).find((each) => scriptOf(each) === 'grammar-process.js');
  if (pid === undefined) throw new Error('the engine has no process for grammars');
  return pid;
}

/** The process that starts a server's text processes. */
export function launcherPid(server: number): number {
  const pid = childPids(server).find((each) => scriptOf(each) === 'launcher-process.js');
  if (pid === undefined) throw new Error('the server has no process that starts text processes');
  return pid;
}

/** Those in which a server tokenizes and renders, in the order in which they were started. */
export function textPids(server: number): number[] {
  return childPids(launcherPid(server)).filter((pid) => scriptOf(pid) === 'text-process.js');
}

/** A process and all that it has started, directly or not; those that end meanwhile may be missing. */
export function processTree(pid: number): number[] {
  try {
    return [pid, ...childPids(pid).flatMap(processTree)];
  } catch {
    return [];
  }
}

/** File name of the script that a Node process runs; null: it runs none, or has ended. */
export function scriptOf(pid: number): string | null {
  try {
    const args = readFileSync(`/proc/${String(pid)}/cmdline`, 'utf8').split('\0');
    return basename(args.find((arg) => arg.endsWith('.js')) ?? '') || null;
  } catch {
    return null;
  }
}

/** The variables that a process was started with. */
export function environment(pid: number): Record<string, string> {
  const variables = readFileSync(`/proc/${String(pid)}/environ`, 'utf8')
    .split('\0')
    .filter(Boolean);
  return Object.fromEntries(
    variables.map((line) => /^(.*?)=(.*)$/s.exec(line)?.slice(1) as [string, string]),
  );
}

/** A zombie has ended: it only waits for somebody to ask how. */
export function isRunning(pid: number): boolean {
  try {
    return !/\) Z /.test(readFileSync(`/proc/${String(pid)}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

/** The most memory that a process has held at once. */
export function peakBytes(pid: number): number {
  const status = readFileSync(`/proc/${String(pid)}/status`, 'utf8');
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
}
