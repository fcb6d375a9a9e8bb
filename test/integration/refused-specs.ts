// Specs that the API server refuses, each with what it says of the field.

export const gpu = (devices: number) => ({ resourceName: 'amd.com/gpu', devices });

export const refusedSpecs: readonly [string, object, RegExp][] = [
  ['no model', { model: null }, /spec\.model: Required value/],
  ['no uri', { model: {} }, /spec\.model\.uri: Required value/],
  [
    'another scheme',
    { model: { uri: 'https://x/y' } },
    /spec\.model\.uri: .*must be s3:\/\/BUCKET\/PREFIX\//,
  ],
  ['a bucket that is none', { model: { uri: 's3:///x/' } }, /spec\.model\.uri: .*must be s3:/],
  [
    'a name with a blank',
    { model: { uri: 's3://b/m', name: 'a b' } },
    /spec\.model\.name: .*letters, digits/,
  ],
  [
    'an alias twice',
    { model: { uri: 's3://b/m', aliases: ['a', 'a'] } },
    /spec\.model\.aliases\[1\]: Duplicate/,
  ],
  [
    'an alias that is the name',
    { model: { uri: 's3://b/m', name: 'a', aliases: ['a'] } },
    /spec\.model\.aliases: .*repeats model\.name/,
  ],
  [
    'an endpoint without a scheme',
    { model: { uri: 's3://b/m', s3: { endpoint: 's3.example.org' } } },
    /spec\.model\.s3\.endpoint: .*http:\/\/ or https:\/\//,
  ],
  [
    'a Secret without a name',
    { model: { uri: 's3://b/m', s3: { credentialsSecretRef: {} } } },
    /spec\.model\.s3\.credentialsSecretRef\.name: Required/,
  ],
  [
    'a device of an unknown vendor',
    { accelerator: { resourceName: 'example.com/gpu' } },
    /spec\.accelerator\.resourceName: .*amd\.com or nvidia\.com/,
  ],
  ['no devices', { accelerator: gpu(0) }, /spec\.accelerator\.devices: .*greater than or equal to 1/],
  [
    'memory that is no quantity',
    { accelerator: { memoryPerDevice: 'much' } },
    /spec\.accelerator\.memoryPerDevice: .*quantity above zero, such as 48Gi/,
  ],
  [
    'more ranks than devices',
    { accelerator: gpu(1), parallelism: { tensor: 2 } },
    /spec\.parallelism\.tensor: .*must equal accelerator\.devices/,
  ],
  [
    'devices that no rank uses',
    { accelerator: gpu(4), parallelism: { tensor: 2 } },
    /spec\.parallelism\.tensor: .*change one of them, or leave parallelism\.tensor out/,
  ],
  [
    'stages of unequally many ranks',
    { accelerator: { devices: 3 }, parallelism: { pipeline: 2 } },
    /spec\.parallelism\.pipeline: .*must divide accelerator\.devices/,
  ],
  [
    'stages and ranks that devices are not',
    { accelerator: { devices: 4 }, parallelism: { pipeline: 2, tensor: 4 } },
    /spec\.parallelism\.tensor: .*times parallelism\.pipeline must equal/,
  ],
  [
    'nodes with parts of stages',
    { accelerator: { devices: 4 }, parallelism: { pipeline: 2, nodes: 4 } },
    /spec\.parallelism\.pipeline: .*each node has whole stages/,
  ],
  [
    'stages on devices',
    { accelerator: gpu(4), parallelism: { pipeline: 2 } },
    /spec\.parallelism\.pipeline: .*does not work with devices yet/,
  ],
  [
    'stages that vLLM is to have',
    { accelerator: { devices: 2 }, parallelism: { pipeline: 2 }, engine: { runtime: 'vllm', image: 'v' } },
    /spec\.engine\.runtime: .*does not work with parallelism\.pipeline yet/,
  ],
  [
    'stages that draft',
    {
      ...{ accelerator: { devices: 2 }, parallelism: { pipeline: 2 } },
      engine: { speculative: { method: 'ngram' } },
    },
    /spec\.engine\.speculative\.method: .*set its method to none/,
  ],
  [
    'stages with adapters',
    { accelerator: { devices: 2 }, parallelism: { pipeline: 2 }, engine: { maxAdapters: 1 } },
    /spec\.adapters: .*do not work with parallelism\.pipeline yet/,
  ],
  [
    'stages that are apart by prefill and decode',
    { accelerator: { devices: 2 }, parallelism: { pipeline: 2 }, disaggregation: { prefill: {} } },
    /spec\.disaggregation: .*does not work with parallelism\.pipeline above 1/,
  ],
  [
    'a batch that cannot hold its sequences',
    { engine: { maxNumSeqs: 256, maxNumBatchedTokens: 256 } },
    /spec\.engine\.maxNumBatchedTokens: .*at least engine\.maxNumSeqs \+ 64/,
  ],
  ['an odd block size', { engine: { blockSize: 48 } }, /spec\.engine\.blockSize: Unsupported value: 48/],
  [
    'too few batched tokens for all drafts',
    { engine: { maxNumSeqs: 256, maxNumBatchedTokens: 1087, speculative: { method: 'mtp' } } },
    /spec\.engine\.maxNumBatchedTokens: .*engine\.maxNumSeqs x \(1 \+ engine\.speculative\.tokens\) \+ 64/,
  ],
  [
    'an unknown way to speculate',
    { engine: { speculative: { method: 'medusa' } } },
    /spec\.engine\.speculative\.method: Unsupported value: "medusa"/,
  ],
  [
    'the head of a method that has none',
    { engine: { speculative: { method: 'ngram', uri: 's3://models/fp8/' } } },
    /spec\.engine\.speculative\.uri: .*set engine\.speculative\.method to one of them/,
  ],
  [
    'a head from elsewhere than a bucket',
    { engine: { speculative: { method: 'mtp', uri: 'https://example.org/fp8/' } } },
    /spec\.engine\.speculative\.uri: .*must be s3:/,
  ],
  [
    'an unknown quantization',
    { engine: { quantization: 'awq' } },
    /spec\.engine\.quantization: Unsupported value: "awq"/,
  ],
  ['an unknown dtype', { engine: { dtype: 'int4' } }, /spec\.engine\.dtype: Unsupported value: "int4"/],
  [
    'an unknown type of activations',
    { engine: { exactness: 'bfloat16' } },
    /spec\.engine\.exactness: Unsupported value: "bfloat16"/,
  ],
  [
    'an unknown type of the KV cache',
    { engine: { kvCacheDtype: 'fp4' } },
    /spec\.engine\.kvCacheDtype: Unsupported value: "fp4"/,
  ],
  [
    'sums by whom nobody knows',
    { engine: { collectives: 'nccl' } },
    /spec\.engine\.collectives: Unsupported value: "nccl"/,
  ],
  [
    'over 100 percent',
    { engine: { memoryUtilizationPercent: 101 } },
    /spec\.engine\.memoryUtilizationPercent: /,
  ],
  ['a misspelt field', { engine: { maxModelLength: 5 } }, /unknown field "spec\.engine\.maxModelLength"/],
  ['an env name twice', { env: [{ name: 'A' }, { name: 'A' }] }, /spec\.env\[1\]: Duplicate value: .*"A"/],
  ['an env name with a blank', { env: [{ name: 'A B' }] }, /spec\.env\[0\]\.name: .*letters, digits and '_'/],
  [
    'an env that runs other code',
    { env: [{ name: 'NODE_OPTIONS', value: '--import=data:text/javascript,1' }] },
    /spec\.env\[0\]\.name: .*not its own/,
  ],
  [
    "an env of the operator's",
    { env: [{ name: 'LLMSERVICE_X' }] },
    /spec\.env\[0\]\.name: .*belong to the operator/,
  ],
  [
    'an env with two values',
    { env: [{ name: 'A', value: 'x', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } }] },
    /spec\.env\[0\]\.valueFrom: .*value or valueFrom, not both/,
  ],
  ['no shared memory', { sharedMemory: { sizeLimit: '0' } }, /spec\.sharedMemory\.sizeLimit: .*such as 8Gi/],
  [
    'other devices in limits',
    { accelerator: gpu(2), resources: { limits: { 'amd.com/gpu': '1' } } },
    /spec\.resources\.limits: .*remove the device from resources\.limits/,
  ],
  [
    'other devices in requests',
    { accelerator: gpu(2), resources: { requests: { 'amd.com/gpu': 1 } } },
    /spec\.resources\.requests: .*remove the device from resources\.requests/,
  ],
  [
    'a limit that is no quantity',
    { resources: { limits: { memory: 'lots' } } },
    /spec\.resources\.limits\.memory: /,
  ],
  [
    'a toleration with value and Exists',
    { tolerations: [{ key: 'a', operator: 'Exists', value: 'b' }] },
    /spec\.tolerations\[0\]\.value: .*take no value/,
  ],
  ['a toleration of nothing', { tolerations: [{}] }, /spec\.tolerations\[0\]\.key: .*operator Exists/],
  ['a misspelt affinity', { affinity: { nodeAfinity: {} } }, /unknown field "spec\.affinity\.nodeAfinity"/],
  ['fewer than no replicas', { replicas: -1 }, /spec\.replicas: .*greater than or equal to 0/],
  [
    'a host with a scheme',
    { routing: { host: 'https://x' } },
    /spec\.routing\.host: .*without scheme, port or path/,
  ],
  ['keys without a name', { auth: { keysSecretRef: {} } }, /spec\.auth\.keysSecretRef\.name: Required/],
  [
    'more replicas than share the budgets of keys',
    { replicas: 3, auth: { keysSecretRef: { name: 'keys' }, maxReplicas: 2 } },
    /spec\.replicas: .*raise auth\.maxReplicas to the max number of replicas/,
  ],
  [
    'a certificate that the gateway could not verify',
    { tls: { secretRef: { name: 'tls' } }, routing: { host: 'demo.example.org' } },
    /spec\.tls: .*caConfigMapRef is required with routing\.host/,
  ],
  [
    'a certificate that the activator could not verify',
    { tls: { secretRef: { name: 'tls' } }, scaling: { idleAfterSeconds: 60 } },
    /spec\.tls: .*caConfigMapRef is required with scaling\.idleAfterSeconds/,
  ],
  [
    'authorities of no certificate',
    { tls: { caConfigMapRef: { name: 'ca' } } },
    /spec\.tls\.caConfigMapRef: .*add tls\.secretRef/,
  ],
  ['a certificate without a name', { tls: { secretRef: {} } }, /spec\.tls\.secretRef\.name: Required/],
  ['budgets for no replica', { auth: { maxReplicas: 0 } }, /spec\.auth\.maxReplicas: /],
  [
    'a claim without a name',
    { accounting: { persistentVolumeClaimRef: {} } },
    /spec\.accounting\.persistentVolumeClaimRef\.name: Required/,
  ],
  [
    'a request log that is nowhere',
    { requestLog: { uri: 'file:///logs/' } },
    /spec\.requestLog\.uri: .*s3:\/\/BUCKET\/PREFIX\//,
  ],
  [
    'a request log of another engine',
    { requestLog: { uri: 's3://b/log/' }, engine: { runtime: 'vllm' } },
    /spec\.requestLog: .*native runtime alone/,
  ],
  [
    'the contract of another engine',
    { compatibility: 'liftwing', engine: { runtime: 'vllm' } },
    /spec\.compatibility: .*native runtime alone/,
  ],
  [
    'sampling defaults of another engine',
    { engine: { runtime: 'vllm', samplingDefaults: { plain: { topP: 0.8 } } } },
    /spec\.engine\.samplingDefaults: .*native runtime alone/,
  ],
  [
    'administration of another engine',
    {
      administration: { keysSecretRef: { name: 'admins' }, allowedUris: ['s3://b/models/', 's3://c'] },
      engine: { runtime: 'vllm' },
    },
    /spec\.administration: .*native runtime alone/,
  ],
  ['administration without keys', { administration: {} }, /spec\.administration\.keysSecretRef: Required/],
  [
    'more GPUs than the native runtime adds up over',
    { accelerator: gpu(16) },
    /spec\.accelerator\.devices: .*at most 8, or set engine\.collectives to library/,
  ],
  ['an endless drain', { rollout: { drainTimeoutSeconds: 99999 } }, /spec\.rollout\.drainTimeoutSeconds: /],
];
