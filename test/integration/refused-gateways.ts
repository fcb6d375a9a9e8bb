// Specs of gateways that are wrong in one place, with the path of that place, which whoever refuses them must name.

/** By the API server, before the object exists. */
export const refusedGateways: readonly [string, object, string][] = [
  ['by the API server: no model', { models: [] }, 'spec.models'],
  ['a model without a service', { models: [{ name: 'a' }] }, 'spec.models[0].service'],
  ['a name with a blank', { models: [{ name: 'a b', service: 's' }] }, 'spec.models[0].name'],
  [
    'a name twice',
    {
      models: [
        { name: 'a', service: 's' },
        { name: 'a', service: 't' },
      ],
    },
    'spec.models[1]',
  ],
  ['its own fallback', { models: [{ name: 'a', service: 's', fallback: ['a'] }] }, 'spec.models[0].fallback'],
  ['its own alias', { models: [{ name: 'a', service: 's', aliases: ['a'] }] }, 'spec.models[0].aliases'],
  [
    'for keys that nobody has',
    { models: [{ name: 'a', service: 's', visibleTo: ['k'] }] },
    'spec.auth.keysSecretRef',
  ],
  ['a host that is none', { routing: { host: 'https://a' } }, 'spec.routing.host'],
  ['a Secret of no name', { auth: { keysSecretRef: { name: '..' } } }, 'spec.auth.keysSecretRef.name'],
  ['a body of nothing', { maxBodyBytes: 1 }, 'spec.maxBodyBytes'],
  ['a body of more than a share', { maxBodyBytes: 2 ** 25 + 1 }, 'spec.maxBodyBytes'],
  ['too many replicas', { replicas: 65 }, 'spec.replicas'],
  ['nobody', { networkPolicy: { from: [] } }, 'spec.networkPolicy.from'],
  [
    'a log nowhere',
    { accounting: { persistentVolumeClaimRef: {} } },
    'spec.accounting.persistentVolumeClaimRef.name',
  ],
  ['a toleration of all', { tolerations: [{ effect: 'NoSchedule' }] }, 'spec.tolerations[0]'],
  ['a pull Secret of no name', { imagePullSecrets: [{}] }, 'spec.imagePullSecrets[0].name'],
  ['a field that is unknown', { model: 'a' }, 'spec.model'],
];

/** By the condition Accepted, with the reason and a part of the message. */
export const reportedGateways: readonly [string, object, string, string][] = [
  [
    'alias-twice',
    {
      models: [
        { name: 'a', service: 'first' },
        { name: 'b', service: 'second', aliases: ['a'] },
      ],
    },
    'InvalidSpec',
    'spec.models[1].aliases[0]: repeats a',
  ],
  ['no-secret', { auth: { keysSecretRef: { name: 'none' } } }, 'KeysInvalid', 'spec.auth.keysSecretRef.name'],
  [
    'wrong-keys',
    { auth: { keysSecretRef: { name: 'wrong' } } },
    'KeysInvalid',
    'keys.yaml: keys[0].tokensPerDay must be',
  ],
  ['a-secret', { auth: { keysSecretRef: { name: 'others' } } }, 'SecretNotAllowed', 'secret-for=keys'],
];
