// Imports point one way: main → edges → core → crds. A cycle or a layer break fails the build.
const core = '^(operator/src/(spec|plan|status)|runtime/src/(request|tokens|schedule))/';

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    { name: 'no-cycle', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'crds-is-the-bottom',
      comment: 'The contract knows none of its users.',
      severity: 'error',
      from: { path: '^crds/' },
      to: { path: '^(operator|runtime|native)/' },
    },
    {
      name: 'native-stands-alone',
      severity: 'error',
      from: { path: '^native/' },
      to: { path: '^(operator|runtime|crds)/' },
    },
    {
      name: 'operator-and-runtime-are-strangers',
      comment: 'They meet in the contract package and over the wire.',
      severity: 'error',
      from: { path: '^(operator|runtime)/' },
      to: { path: '^(operator|runtime)/', pathNot: '^$1/' },
    },
    {
      name: 'core-is-pure',
      comment: 'The core has no client, clock, logger, process or environment; types may cross.',
      severity: 'error',
      from: { path: core, pathNot: '\\.test\\.ts$' },
      to: {
        path: '@kubernetes/client-node|@aws-sdk|winston|express|prom-client|^(node:)?(fs|child_process|net|http|https|os)',
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'core-imports-no-edge',
      severity: 'error',
      from: { path: core, pathNot: '\\.test\\.ts$' },
      to: {
        path: '^(operator/src/(apply|watch|preflight|cli|doctor|kubectl|main)|runtime/src/(http|engine|weights|metrics|log|cli|main))',
        dependencyTypesNot: ['type-only'],
      },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '(^|/)(dist|build[^/]*)/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      extensions: ['.ts', '.js'],
      exportsFields: ['exports'],
      conditionNames: ['import', 'types'],
    },
  },
};
