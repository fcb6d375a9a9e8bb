// The native addon with faults on demand, for LLMSERVICE_NATIVE_ADDON: when the file that FAULTY_ADDON_ORDER names is
// there, the next step meets the fault that stands in it. Some faults use the order up, `unsound` stays in force.
// A new engine loads only when there is no file of that name with `.hold` behind it. `address` is a true one of the device, made by the module that FAULTY_ADDON_MODULE names. FAULTY_ADDON_DEVICE runs the
// model in place of the device that was asked for.
'use strict';
const { existsSync, readFileSync, rmSync } = require('node:fs');
const process = require('node:process');
const { setInterval } = require('node:timers');
const { setTimeout: sleep } = require('node:timers/promises');

const real = require(process.env.FAULTY_ADDON_REAL);
const order = process.env.FAULTY_ADDON_ORDER;

/** The fault that is ordered, if it is one of these. Others are somebody else's to take. */
const taken = (...faults) => {
  let fault;
  try {
    fault = readFileSync(order, 'utf8');
  } catch {
    return null; // nothing is ordered
  }
  if (!faults.includes(fault)) return null;
  if (fault !== 'unsound') rmSync(order, { force: true });
  return fault;
};

const failed = (message) => Object.assign(new Error(message), { reason: 'EngineFault' });

/** A result in which every sequence that has rows meets a NaN. */
const unsound = (plan, result) => {
  const fault = (slot) => ({ slot, position: 0, kind: 'notFinite', layer: 1, part: 'attention' });
  const slots = [...plan.rows].filter((_, i) => i % 2 === 0);
  const none = { slots: new Int32Array(), tokens: new Int32Array(), finish: new Uint8Array() };
  return { ...result, ...none, logprobs: new Float32Array(), faults: slots.map(fault) };
};

const load = async (options, ...more) => {
  while (existsSync(`${order}.hold`)) await sleep(20);
  const device = process.env.FAULTY_ADDON_DEVICE ?? options.device;
  const engine = await real.load({ ...options, device }, ...more);
  const step = async (plan) => {
    const early = taken('endless', 'address');
    if (early === 'address') require(process.env.FAULTY_ADDON_MODULE);
    if (early === 'endless') return new Promise(() => undefined);
    const result = await engine.step(plan);
    // Only now: a step that is withdrawn meets nothing.
    const fault = taken('device', 'unsound');
    if (fault === 'device') throw failed('the device fell off the bus in the midst of a step');
    return fault === 'unsound' ? unsound(plan, result) : result;
  };
  return {
    info: engine.info,
    step,
    withdraw: () => engine.withdraw(),
    dispose: () => engine.dispose(),
  };
};

const runRank = (...options) =>
  new Promise((resolve, reject) => {
    real.runRank(...options).then(resolve, reject);
    setInterval(() => {
      if (taken('rank') !== null) reject(failed('the device of rank 1 fell off the bus'));
    }, 20);
  });

module.exports = { ...real, load, runRank };
