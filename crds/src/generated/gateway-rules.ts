// Generated from crds/llmgateways.llmservice.dev.yaml by `npm run generate`. Do not edit.

import type { SpecRule } from '../spec-rule.js';

export const gatewayRules: readonly SpecRule[] = [
  {
    "at": [],
    "rule": "self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",
    "fieldPath": "",
    "message": "metadata.name must start with a letter, hold only a-z, 0-9 and '-', and have at most 52 characters, because the Service and the pods take their names from it; choose another name"
  },
  {
    "at": [
      "spec"
    ],
    "rule": "has(self.auth.keysSecretRef) || !has(self.models) || self.models.all(model, !has(model.visibleTo))",
    "fieldPath": ".auth.keysSecretRef",
    "message": "auth.keysSecretRef must be set where a model has visibleTo, since keys say who asks; set it, or remove visibleTo"
  },
  {
    "at": [
      "spec",
      "models",
      "[]"
    ],
    "rule": "!has(self.fallback) || !(self.name in self.fallback)",
    "fieldPath": ".fallback",
    "message": "fallback names the model itself; name other models of this gateway"
  },
  {
    "at": [
      "spec",
      "models",
      "[]"
    ],
    "rule": "!has(self.aliases) || !(self.name in self.aliases)",
    "fieldPath": ".aliases",
    "message": "aliases repeats name; remove it there"
  },
  {
    "at": [
      "spec",
      "models",
      "[]",
      "name"
    ],
    "rule": "self.matches('^[A-Za-z0-9]([A-Za-z0-9._/-]*[A-Za-z0-9])?$')",
    "fieldPath": "",
    "message": "models.name may hold letters, digits, '.', '_', '-' and '/', and must begin and end with a letter or a digit"
  },
  {
    "at": [
      "spec",
      "models",
      "[]",
      "aliases",
      "[]"
    ],
    "rule": "self.matches('^[A-Za-z0-9]([A-Za-z0-9._/-]*[A-Za-z0-9])?$')",
    "fieldPath": "",
    "message": "models.aliases may hold letters, digits, '.', '_', '-' and '/', and must begin and end with a letter or a digit"
  },
  {
    "at": [
      "spec",
      "routing",
      "host"
    ],
    "rule": "self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$')",
    "fieldPath": "",
    "message": "routing.host must be a host name in lower case, such as models.experimental.example.org, without scheme, port or path"
  },
  {
    "at": [
      "spec",
      "auth",
      "keysSecretRef",
      "name"
    ],
    "rule": "self.matches('^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\\\\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$')",
    "fieldPath": "",
    "message": "auth.keysSecretRef.name is no name of a Secret: lower-case letters, digits, '-' and '.' between them"
  },
  {
    "at": [
      "spec",
      "tolerations",
      "[]"
    ],
    "rule": "!has(self.operator) || self.operator != \"Exists\" || !has(self.value) || self.value == \"\"",
    "fieldPath": ".value",
    "message": "tolerations with operator Exists take no value; remove value or use operator Equal"
  },
  {
    "at": [
      "spec",
      "tolerations",
      "[]"
    ],
    "rule": "has(self.key) || (has(self.operator) && self.operator == \"Exists\")",
    "fieldPath": ".key",
    "message": "tolerations without a key accept every taint and need operator Exists; set key or operator"
  }
];
