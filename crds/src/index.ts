// The contract package: everything that more than one part of the system must spell the same way.

export * from './names.js';
export * from './failures.js';
