// Imports point one way: main → edges → core → checkpoint → crds, and between the folders of a part as the table says. A cycle or a
// layer break fails the build.
const core = '^(operator/src/(domain|resource|plan|status)|runtime/src/(request|tokens|schedule))/';

/** The folders of a part from the bottom up, each with those that it may import. */
const folders = {
  'checkpoint/src': {
    json: [], // hostile JSON, small and streamed
    config: ['json'], // config.json as one model shape
    formats: ['json', 'config'], // headers of weight files, and the metadata of GGUF ones
    adapters: ['json', 'config', 'formats'], // LoRA adapters of a model
    weights: ['config', 'formats'], // what the engine holds of tensors, by rank
    memory: ['config', 'adapters', 'weights'], // what a rank takes in all, and whether it fits
    source: ['json', 'config', 'formats', 'adapters', 'weights'], // where a checkpoint lies
  },
  'operator/src': {
    kube: [], // the API server: a client, its objects, who may be asked
    domain: [], // what is wanted and known of a service, as types that all that follow share
    resource: ['kube', 'domain'], // from an LlmService as one wanted service, or every rule that it breaks
    plan: ['kube', 'domain', 'resource'], // from a wanted service to objects
    status: ['kube', 'domain', 'resource', 'plan'], // from what is planned and seen to conditions
    preflight: ['kube', 'domain', 'resource'], // checkpoints, read before a pod exists
    watch: ['kube', 'domain', 'plan', 'status'], // what the cluster has, and what pods report
    apply: ['kube', 'domain', 'resource', 'plan', 'status'], // writes to the cluster
    reconcile: ['kube', 'domain', 'resource', 'plan', 'status', 'preflight', 'watch', 'apply'], // by question
    conversion: ['kube'], // objects in another version of the API
    activator: ['kube', 'plan', 'status', 'watch'], // holds requests of services that sleep
    router: ['domain', 'activator'], // requests for many models at one address
    'node-folder': [], // prepares folders of nodes
    cli: ['kube', 'domain', 'resource', 'plan', 'status', 'preflight', 'watch', 'apply', 'reconcile'], // `llmservice plan`
    doctor: ['kube', 'domain', 'resource', 'plan', 'status', 'preflight', 'watch'], // `llmservice doctor`
    kubectl: ['kube', 'status', 'cli'], // `kubectl llm`
  },
  'operator/src/plan': {
    identity: [], // names, labels, the owner, content hashes
    fit: [], // whether a model fits its accelerator, and a pod its node
    pods: ['identity'], // templates of pods and the config that they mount, whichever engine serves
    scaling: ['identity'], // how many pods: by load, schedules, a budget, and asleep
    rollouts: ['identity', 'fit', 'pods'], // revisions, and how one takes the place of another
    class: ['rollouts'], // what a service takes from a class, and what is beyond its bounds
    canary: ['identity', 'pods'], // a revision beside the stable one: when, how long, how it is judged
    traffic: ['identity', 'pods', 'scaling', 'canary'], // how requests come to the pods, and whose may
    prefill: ['identity', 'pods', 'rollouts', 'traffic'], // pods that compute prompts for those that answer
    gateway: ['identity', 'pods', 'traffic'], // many services behind one address
  },
  'runtime/src/request': {
    body: [], // the form of fields, the bounds of bodies, and the table of refusals
    text: [], // what the engine gives, as text
    'json-schema': ['body'], // what of JSON Schema an answer can be held to
    fields: ['body', 'json-schema'], // each family of fields: schemas, typed values, rules
    validate: ['body', 'fields'], // the fields of each route, and bodies held to them
    parse: ['body', 'fields', 'validate'], // the bodies of each protocol as one request
    prepare: ['body', 'text', 'fields', 'validate', 'parse'], // from a request to what the engine runs
  },
  'runtime/src/http': {
    api: [], // the table of routes and what describes it
    access: ['api'], // who is let in, how many at once, and the record of each request
    bodies: ['access'], // bodies as they come: bounded, held, parsed
    objects: [], // small objects in memory or in a bucket
    'stored-responses': ['objects'], // responses that clients come back for
    batches: ['objects'], // files of requests, and what answers them
    replica: ['access', 'bodies', 'stored-responses', 'batches'], // what this replica serves and does, and what routes share
    generation: ['replica'], // one generation or embedding, from prompt to end
    protocols: ['api', 'stored-responses', 'generation'], // answers as clients of OpenAI and Anthropic read them
    routes: ['api', 'access', 'bodies', 'stored-responses', 'batches', 'replica', 'generation', 'protocols'], // what answers each route
    server: ['replica'], // sockets: TLS, limits, the graceful end
  },
};

const testFiles = '\\.(test|fixture)\\.ts$';

const folderRules = Object.entries(folders).flatMap(([part, below]) => {
  const names = Object.keys(below);
  return [
    {
      name: 'folder-has-a-place',
      comment: 'Of each folder the table says where it stands.',
      severity: 'error',
      from: { path: `^${part}/[^/]+/`, pathNot: `^${part}/(${names.join('|')})/` },
      to: {},
    },
    ...names.map((name, place) => {
      const upward = below[name].find((other) => !names.slice(0, place).includes(other));
      if (upward !== undefined) throw new Error(`${part}: ${upward} is not below ${name}`);
      return {
        name: `${name}-imports-what-is-below`,
        severity: 'error',
        from: { path: `^${part}/${name}/`, pathNot: testFiles },
        // Files beside the folders are for whoever does not make a cycle.
        to: { path: `^${part}/[^/]+/`, pathNot: `^${part}/(${[name, ...below[name]].join('|')})/` },
      };
    }),
  ];
});

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    { name: 'no-cycle', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'crds-is-the-bottom',
      comment: 'The contract knows none of its users.',
      severity: 'error',
      from: { path: '^crds/' },
      to: { path: '^(checkpoint|operator|runtime|native)/' },
    },
    {
      name: 'checkpoint-knows-the-contract-alone',
      severity: 'error',
      from: { path: '^checkpoint/' },
      to: { path: '^(operator|runtime|native)/' },
    },
    {
      name: 'native-knows-checkpoints-alone',
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
        path: '@kubernetes/client-node|@aws-sdk|winston|\\bexpress\\b|prom-client|^(node:)?(fs|child_process|net|http|https|os)',
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'core-imports-no-edge',
      severity: 'error',
      from: { path: core, pathNot: testFiles },
      to: {
        path: '^(operator/src/(apply|watch|preflight|cli|doctor|kubectl|main)|runtime/src/(http|engine|text-processes|weights|metrics|log|cli|main))',
        dependencyTypesNot: ['type-only'],
      },
    },
    ...folderRules,
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
