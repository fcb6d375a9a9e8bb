// One project per level of the test pyramid: `npm test -- --selectProjects unit`.
const shared = {
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '^.+\\.ts$': '@swc/jest' },
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  testPathIgnorePatterns: ['/node_modules/', '/dist/', '/.build/', '/.local/', '/.stage/'],
  modulePathIgnorePatterns: ['/dist/', '/.build/', '/.local/', '/.stage/'],
};
const project = (displayName, testMatch, extra = {}) => ({ displayName, testMatch, ...shared, ...extra });

export default {
  // Machines are shared and slow at times: a limit that only a hang reaches. Jest heeds it here and not in a project.
  testTimeout: 180_000,
  projects: [
    project('unit', [
      '<rootDir>/{crds,checkpoint,native,runtime,operator,test/conformance,test/cpu,test/gpu,test/images,test/bench}/**/*.test.ts',
    ]),
    project('golden', ['<rootDir>/test/golden/**/*.test.ts']),
    project('integration', ['<rootDir>/test/{integration,attacks}/**/*.test.ts'], {
      globalSetup: '<rootDir>/test/integration/install.ts',
    }),
    project('e2e', ['<rootDir>/test/e2e/**/*.test.ts'], { globalSetup: '<rootDir>/test/e2e/install.ts' }),
  ],
};
