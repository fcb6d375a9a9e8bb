// What must hold of kernels: no spills and no local memory unless allowed, and the instructions that a kernel was
// written for. A rule that matches no kernel is stale, and fails too. The rules: kernels.rules.json in the backend.

import type { KernelCode } from './kernel-code.js';

/** One rule. `kernel`, `target` and `instruction` are regular expressions; without `target` it is for all of them. */
export interface KernelRule {
  readonly kernel: string;
  readonly target?: string;
  /** One of its instructions must match. */
  readonly instruction?: string;
  /** Local memory, spills included, that it may use per thread. */
  readonly localBytes?: number;
  /** Of its reads and writes, those in loops (hot-loops.ts) that it may have. */
  readonly hotLocals?: number;
  /** The reason, for whoever meets the failure. */
  readonly why: string;
}

/** A kernel with the name that rules know it by. */
export interface NamedKernel extends KernelCode {
  readonly name: string;
}

const applies = (rule: KernelRule, kernel: NamedKernel): boolean =>
  new RegExp(rule.kernel).test(kernel.name) && new RegExp(rule.target ?? '').test(kernel.target);

/** It is for none of them. */
export const isStale = (rule: KernelRule, kernels: readonly NamedKernel[]): boolean =>
  !kernels.some((kernel) => applies(rule, kernel));

/** Some kernels are for the matrix instructions of one vendor alone. */
const vendorOf = (target: string): string => (target.startsWith('gfx') ? 'hip' : 'cuda');

/** What is broken, in sentences. What a vendor has a kernel for, it has for all its targets. */
export function brokenRules(
  kernels: readonly NamedKernel[],
  rules: readonly KernelRule[],
  targets: readonly string[],
): string[] {
  const broken = kernels.flatMap((kernel) => brokenBy(kernel, rules));
  for (const name of new Set(kernels.map((kernel) => kernel.name))) {
    const has = new Set(kernels.filter((kernel) => kernel.name === name).map((kernel) => kernel.target));
    const vendors = new Set([...has].map(vendorOf));
    const missing = targets.filter((target) => vendors.has(vendorOf(target)) && !has.has(target));
    broken.push(...missing.map((target) => `${name} is missing for ${target}`));
  }
  const stale = rules.filter((rule) => isStale(rule, kernels));
  return [...broken, ...stale.map((rule) => `no kernel matches the rule ${JSON.stringify(rule)}`)];
}

function brokenBy(kernel: NamedKernel, rules: readonly KernelRule[]): string[] {
  const own = rules.filter((rule) => applies(rule, kernel));
  const where = `${kernel.name} for ${kernel.target}`;
  const broken: string[] = [];
  const allowed = Math.max(0, ...own.map((rule) => rule.localBytes ?? 0));
  if (kernel.stackBytes > allowed) {
    broken.push(
      `${where} keeps ${kernel.stackBytes} bytes a thread in memory (${kernel.spillBytes} spilled); allowed are ${allowed}`,
    );
  }
  const allowedHot = Math.max(0, ...own.map((rule) => rule.hotLocals ?? 0));
  if (kernel.hotLocals > allowedHot) {
    broken.push(
      `${where} touches that memory ${kernel.hotLocals} times in the loops of its products; allowed are ${allowedHot}`,
    );
  }
  for (const { instruction, why } of own) {
    if (instruction === undefined) continue;
    if (![...kernel.instructions.keys()].some((mnemonic) => new RegExp(instruction).test(mnemonic))) {
      broken.push(`${where} has no instruction ${instruction}: ${why}`);
    }
  }
  return broken;
}
