// Generated from crds/llmservices.llmservice.dev.yaml by `npm run generate`. Do not edit.

import type { SpecRule } from '../spec-rule.js';

export const specRules: readonly SpecRule[] = [
  {
    "at": [],
    "rule": "self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",
    "fieldPath": "",
    "message": "metadata.name must start with a letter, hold only a-z, 0-9 and '-', and have at most 52 characters, because the Service and the pods take their names from it; choose another name"
  },
  {
    "at": [],
    "rule": "!has(self.spec.parallelism) || !has(self.spec.parallelism.nodes) || self.spec.parallelism.nodes == 1 || size(self.metadata.name) <= 43",
    "fieldPath": ".spec.parallelism.nodes",
    "message": "parallelism.nodes above 1 is for names of at most 43 characters, to which those of the pods add; choose a shorter metadata.name"
  },
  {
    "at": [],
    "rule": "!has(self.spec.routing) || !has(self.spec.routing.fallback) || self.spec.routing.fallback.service != self.metadata.name",
    "fieldPath": ".spec.routing.fallback.service",
    "message": "routing.fallback.service names this service itself; name another LlmService of this namespace"
  },
  {
    "at": [],
    "rule": "!has(self.spec.adapters) || has(self.spec.model.name) || self.spec.adapters.all(adapter, adapter.name != self.metadata.name)",
    "fieldPath": ".spec.adapters",
    "message": "adapters has the name of the service, which is the model's own without model.name; rename the adapter, or set model.name"
  },
  {
    "at": [
      "spec"
    ],
    "rule": "!has(self.canary) || (has(self.routing.host) && self.routing.provider != 'none')",
    "fieldPath": ".canary",
    "message": "canary needs a route, whose requests it divides; set routing.host, and no routing.provider none"
  },
  {
    "at": [
      "spec"
    ],
    "rule": "!has(self.parallelism.tensor) || self.parallelism.tensor * (has(self.parallelism.pipeline) ? self.parallelism.pipeline : 1) == self.accelerator.devices",
    "fieldPath": ".parallelism.tensor",
    "message": "parallelism.tensor times parallelism.pipeline must equal accelerator.devices: each rank runs on one device; change one of them, or leave parallelism.tensor out"
  },
  {
    "at": [
      "spec"
    ],
    "rule": "!has(self.parallelism.pipeline) || self.accelerator.devices % self.parallelism.pipeline == 0",
    "fieldPath": ".parallelism.pipeline",
    "message": "parallelism.pipeline must divide accelerator.devices: each stage has as many ranks, one per device; change one of them"
  },
  {
    "at": [
      "spec"
    ],
    "rule": "!has(self.parallelism.pipeline) || self.parallelism.pipeline == 1 || !has(self.parallelism.nodes) || self.parallelism.pipeline % self.parallelism.nodes == 0",
    "fieldPath": ".parallelism.pipeline",
    "message": "parallelism.pipeline above 1 must be a multiple of parallelism.nodes: each node has whole stages; change one of them"
  },
  {
    "at": [
      "spec"
    ],
    "rule": "!has(self.parallelism.pipeline) || self.parallelism.pipeline == 1 || self.accelerator.resourceName == 'none' && !has(self.accelerator.profile)",
    "fieldPath": ".parallelism.pipeline",
    "message": "parallelism.pipeline above 1 does not work with devices yet; set it to 1, or remove accelerator.resourceName and accelerator.profile to run on CPUs"
  },
  {
    "at": [
      "spec"
    ],
    "rule": "!has(self.parallelism.pipeline) || self.parallelism.pipeline == 1 || !has(self.engine.runtime) || self.engine.runtime == 'native'",
    "fieldPath": ".engine.runtime",
    "message": "engine.runtime vllm does not work with parallelism.pipeline yet; set it to native, or parallelism.pipeline to 1"
  },
  {
    "at": [
      "spec"
    ],
    "rule": "!has(self.parallelism.pipeline) || self.parallelism.pipeline == 1 || !has(self.engine.speculative) || !has(self.engine.speculative.method) || self.engine.speculative.method == 'none'",
    "fieldPath": ".engine.speculative.method",
    "message": "engine.speculative does not work with parallelism.pipeline yet; set its method to none, or parallelism.pipeline to 1"
  },
  {
    "at": [
      "spec"
    ],
    "rule": "!has(self.parallelism.pipeline) || self.parallelism.pipeline == 1 || !has(self.adapters) && (!has(self.engine.maxAdapters) || self.engine.maxAdapters == 0)",
    "fieldPath": ".adapters",
    "message": "adapters do not work with parallelism.pipeline yet; remove adapters and engine.maxAdapters, or set parallelism.pipeline to 1"
  },
  {
    "at": [
      "spec"
    ],
    "rule": "self.accelerator.devices <= 8 || (has(self.engine.runtime) && self.engine.runtime == 'vllm') || (has(self.engine.collectives) && self.engine.collectives == 'library') || (self.accelerator.resourceName == 'none' && !has(self.accelerator.profile))",
    "fieldPath": ".accelerator.devices",
    "message": "accelerator.devices exceeds the 8 GPUs that the native runtime supports without a collectives library; request at most 8, or set engine.collectives to library or engine.runtime to vllm"
  },
  {
    "at": [
      "spec"
    ],
    "rule": "!has(self.resources) || !has(self.resources.limits) || !(self.accelerator.resourceName in self.resources.limits) || string(self.resources.limits[self.accelerator.resourceName]) == string(self.accelerator.devices)",
    "fieldPath": ".resources.limits",
    "message": "resources.limits and accelerator.devices request different numbers of devices; remove the device from resources.limits: the operator sets it from accelerator"
  },
  {
    "at": [
      "spec"
    ],
    "rule": "!has(self.resources) || !has(self.resources.requests) || !(self.accelerator.resourceName in self.resources.requests) || string(self.resources.requests[self.accelerator.resourceName]) == string(self.accelerator.devices)",
    "fieldPath": ".resources.requests",
    "message": "resources.requests and accelerator.devices request different numbers of devices; remove the device from resources.requests: the operator sets it from accelerator"
  },
  {
    "at": [
      "spec"
    ],
    "rule": "!has(self.auth.keysSecretRef) || !has(self.auth.maxReplicas) || !has(self.replicas) || self.replicas <= self.auth.maxReplicas",
    "fieldPath": ".replicas",
    "message": "replicas exceeds auth.maxReplicas, by which the budgets of keys are divided; raise auth.maxReplicas to the max number of replicas"
  },
  {
    "at": [
      "spec"
    ],
    "rule": "!has(self.auth.keysSecretRef) || !has(self.auth.maxReplicas) || ( (!has(self.scaling.maxReplicas) || self.scaling.maxReplicas <= self.auth.maxReplicas) && (!has(self.scaling.schedules) || self.scaling.schedules.all(schedule, schedule.minReplicas <= self.auth.maxReplicas)))",
    "fieldPath": ".scaling",
    "message": "scaling may create more replicas than auth.maxReplicas, by which the budgets of keys are divided; raise auth.maxReplicas to the max number of replicas"
  },
  {
    "at": [
      "spec"
    ],
    "rule": "!has(self.engine.runtime) || self.engine.runtime != 'vllm' || !has(self.auth.keysSecretRef)",
    "fieldPath": ".auth.keysSecretRef",
    "message": "auth.keysSecretRef is supported by the native runtime alone; remove it, or set engine.runtime to native"
  },
  {
    "at": [
      "spec"
    ],
    "rule": "!has(self.engine.runtime) || self.engine.runtime != 'vllm' || !has(self.accounting.persistentVolumeClaimRef)",
    "fieldPath": ".accounting.persistentVolumeClaimRef",
    "message": "accounting.persistentVolumeClaimRef is supported by the native runtime alone; remove it, or set engine.runtime to native"
  },
  {
    "at": [
      "spec"
    ],
    "rule": "!has(self.engine.runtime) || self.engine.runtime != 'vllm' || !has(self.compatibility) || self.compatibility == 'none'",
    "fieldPath": ".compatibility",
    "message": "compatibility is supported by the native runtime alone; remove it, or set engine.runtime to native"
  },
  {
    "at": [
      "spec"
    ],
    "rule": "!has(self.engine.runtime) || self.engine.runtime != 'vllm' || !has(self.server)",
    "fieldPath": ".server",
    "message": "server is supported by the native runtime alone; remove it, or set engine.runtime to native"
  },
  {
    "at": [
      "spec"
    ],
    "rule": "!has(self.engine.runtime) || self.engine.runtime != 'vllm' || !has(self.requestLog)",
    "fieldPath": ".requestLog",
    "message": "requestLog is supported by the native runtime alone; remove it, or set engine.runtime to native"
  },
  {
    "at": [
      "spec"
    ],
    "rule": "!has(self.engine.runtime) || self.engine.runtime != 'vllm' || !has(self.administration)",
    "fieldPath": ".administration",
    "message": "administration is supported by the native runtime alone; remove it, or set engine.runtime to native"
  },
  {
    "at": [
      "spec"
    ],
    "rule": "!has(self.engine.runtime) || self.engine.runtime != 'vllm' || !has(self.tls.secretRef)",
    "fieldPath": ".tls.secretRef",
    "message": "tls.secretRef is supported by the native runtime alone; remove it, or set engine.runtime to native"
  },
  {
    "at": [
      "spec"
    ],
    "rule": "!has(self.engine.runtime) || self.engine.runtime != 'vllm' || !self.model.uri.endsWith('.gguf')",
    "fieldPath": ".model.uri",
    "message": "model.uri names a GGUF file, which only the native runtime reads; name a folder with safetensors, or set engine.runtime to native"
  },
  {
    "at": [
      "spec"
    ],
    "rule": "!has(self.engine.runtime) || self.engine.runtime != 'vllm' || !has(self.model.cache.kind) || self.model.cache.kind == 'emptyDir'",
    "fieldPath": ".model.cache.kind",
    "message": "model.cache is supported by the native runtime alone; remove it, or set engine.runtime to native"
  },
  {
    "at": [
      "spec"
    ],
    "rule": "!has(self.adapters) || self.adapters.all(adapter, (!has(self.model.name) || adapter.name != self.model.name) && (!has(self.model.aliases) || !(adapter.name in self.model.aliases)))",
    "fieldPath": ".adapters",
    "message": "adapters repeats model.name or one of model.aliases; give each adapter a name of its own"
  },
  {
    "at": [
      "spec"
    ],
    "rule": "!has(self.adapters) || !has(self.engine.maxAdapters) || size(self.adapters) <= self.engine.maxAdapters",
    "fieldPath": ".adapters",
    "message": "adapters has more entries than engine.maxAdapters; raise engine.maxAdapters, which restarts the pods, or remove adapters"
  },
  {
    "at": [
      "spec"
    ],
    "rule": "!has(self.engine.runtime) || self.engine.runtime != 'vllm' || !has(self.adapters)",
    "fieldPath": ".adapters",
    "message": "adapters is supported by the native runtime alone; remove it, or set engine.runtime to native"
  },
  {
    "at": [
      "spec"
    ],
    "rule": "!has(self.scaling.idleAfterSeconds) || !has(self.tls.secretRef) || has(self.tls.caConfigMapRef)",
    "fieldPath": ".tls",
    "message": "tls.caConfigMapRef is required with scaling.idleAfterSeconds: the activator verifies the pods with it; add it, or remove one of tls.secretRef and scaling.idleAfterSeconds"
  },
  {
    "at": [
      "spec"
    ],
    "rule": "!has(self.scaling.idleAfterSeconds) || !has(self.routing.pathPrefix)",
    "fieldPath": ".scaling.idleAfterSeconds",
    "message": "scaling.idleAfterSeconds does not work with routing.pathPrefix: the activator identifies services by host alone; give the service its own host, or remove one of them"
  },
  {
    "at": [
      "spec"
    ],
    "rule": "!has(self.tls.secretRef) || !has(self.routing.host) || has(self.tls.caConfigMapRef)",
    "fieldPath": ".tls",
    "message": "tls.caConfigMapRef is required with routing.host: the gateway verifies the pods with it; add it, or remove one of tls.secretRef and routing.host"
  },
  {
    "at": [
      "spec"
    ],
    "rule": "!has(self.routing.backend) || self.routing.backend != 'inferencePool' || !has(self.canary)",
    "fieldPath": ".routing.backend",
    "message": "routing.backend inferencePool does not work with canary: an InferencePool cannot divide requests between revisions; set routing.backend to service, or remove canary"
  },
  {
    "at": [
      "spec"
    ],
    "rule": "!has(self.routing.backend) || self.routing.backend != 'inferencePool' || !has(self.scaling.idleAfterSeconds)",
    "fieldPath": ".routing.backend",
    "message": "routing.backend inferencePool does not work with scaling.idleAfterSeconds: an InferencePool has no activator that could wake the service; set routing.backend to service, or remove scaling.idleAfterSeconds"
  },
  {
    "at": [
      "spec"
    ],
    "rule": "!has(self.routing.backend) || self.routing.backend != 'inferencePool' || !has(self.tls.secretRef)",
    "fieldPath": ".routing.backend",
    "message": "routing.backend inferencePool does not work with tls.secretRef: gateways reach the pods of an InferencePool by plain HTTP; set routing.backend to service, or remove tls.secretRef"
  },
  {
    "at": [
      "spec"
    ],
    "rule": "!has(self.routing.backend) || self.routing.backend != 'inferencePool' || !has(self.auth.protectMetrics) || !self.auth.protectMetrics",
    "fieldPath": ".routing.backend",
    "message": "routing.backend inferencePool does not work with auth.protectMetrics: an endpoint picker reads /metrics without a key; set routing.backend to service, or remove auth.protectMetrics"
  },
  {
    "at": [
      "spec"
    ],
    "rule": "!has(self.parallelism.nodes) || self.parallelism.nodes == 1 || self.accelerator.devices % self.parallelism.nodes == 0",
    "fieldPath": ".parallelism.nodes",
    "message": "parallelism.nodes must divide accelerator.devices, the devices of all nodes of a replica: each node runs as many ranks; change one of them"
  },
  {
    "at": [
      "spec"
    ],
    "rule": "!has(self.parallelism.nodes) || self.parallelism.nodes == 1 || !has(self.engine.runtime) || self.engine.runtime == 'native'",
    "fieldPath": ".engine.runtime",
    "message": "engine.runtime vllm does not work with parallelism.nodes yet; set it to native, or parallelism.nodes to 1"
  },
  {
    "at": [
      "spec"
    ],
    "rule": "!has(self.parallelism.nodes) || self.parallelism.nodes == 1 || self.accelerator.resourceName == 'none' && !has(self.accelerator.profile)",
    "fieldPath": ".parallelism.nodes",
    "message": "parallelism.nodes above 1 does not work with devices yet, since ranks on several nodes add up on the CPU alone; set it to 1 and accelerator.devices to what one node has, or remove accelerator.resourceName and accelerator.profile to run on CPUs"
  },
  {
    "at": [
      "spec"
    ],
    "rule": "!has(self.parallelism.nodes) || self.parallelism.nodes == 1 || !has(self.canary)",
    "fieldPath": ".canary",
    "message": "canary does not work with parallelism.nodes yet; remove it, or set parallelism.nodes to 1"
  },
  {
    "at": [
      "spec"
    ],
    "rule": "!has(self.parallelism.nodes) || self.parallelism.nodes == 1 || !has(self.scaling.idleAfterSeconds)",
    "fieldPath": ".scaling.idleAfterSeconds",
    "message": "scaling.idleAfterSeconds does not work with parallelism.nodes yet; remove it, or set parallelism.nodes to 1"
  },
  {
    "at": [
      "spec"
    ],
    "rule": "!has(self.parallelism.nodes) || self.parallelism.nodes == 1 || !has(self.model.cache.kind) || self.model.cache.kind == 'emptyDir'",
    "fieldPath": ".model.cache.kind",
    "message": "model.cache does not work with parallelism.nodes yet; remove it, or set parallelism.nodes to 1"
  },
  {
    "at": [
      "spec"
    ],
    "rule": "!has(self.parallelism.nodes) || self.parallelism.nodes == 1 || !has(self.adapters) && (!has(self.engine.maxAdapters) || self.engine.maxAdapters == 0)",
    "fieldPath": ".adapters",
    "message": "adapters do not work with parallelism.nodes yet; remove adapters and engine.maxAdapters, or set parallelism.nodes to 1"
  },
  {
    "at": [
      "spec"
    ],
    "rule": "!has(self.parallelism.nodes) || self.parallelism.nodes == 1 || !has(self.administration)",
    "fieldPath": ".administration",
    "message": "administration does not work with parallelism.nodes yet; remove it, or set parallelism.nodes to 1"
  },
  {
    "at": [
      "spec"
    ],
    "rule": "!has(self.parallelism.nodes) || self.parallelism.nodes == 1 || !has(self.queueName)",
    "fieldPath": ".queueName",
    "message": "queueName does not work with parallelism.nodes yet; remove it, or set parallelism.nodes to 1"
  },
  {
    "at": [
      "spec"
    ],
    "rule": "!has(self.parallelism.nodes) || self.parallelism.nodes == 1 || !has(self.accounting.persistentVolumeClaimRef)",
    "fieldPath": ".accounting.persistentVolumeClaimRef",
    "message": "accounting.persistentVolumeClaimRef does not work with parallelism.nodes yet; remove it, or set parallelism.nodes to 1"
  },
  {
    "at": [
      "spec"
    ],
    "rule": "!has(self.disaggregation) || !has(self.engine.runtime) || self.engine.runtime == 'native'",
    "fieldPath": ".disaggregation",
    "message": "disaggregation is for engine.runtime native, whose engines take KV blocks from each other; remove it, or set engine.runtime to native"
  },
  {
    "at": [
      "spec"
    ],
    "rule": "!has(self.disaggregation) || !has(self.parallelism.nodes) || self.parallelism.nodes == 1",
    "fieldPath": ".disaggregation",
    "message": "disaggregation does not work with parallelism.nodes above 1 yet; remove it, or set parallelism.nodes to 1"
  },
  {
    "at": [
      "spec"
    ],
    "rule": "!has(self.disaggregation) || !has(self.parallelism.pipeline) || self.parallelism.pipeline == 1",
    "fieldPath": ".disaggregation",
    "message": "disaggregation does not work with parallelism.pipeline above 1 yet; remove it, or set parallelism.pipeline to 1"
  },
  {
    "at": [
      "spec"
    ],
    "rule": "!has(self.disaggregation) || self.accelerator.devices <= 8",
    "fieldPath": ".disaggregation",
    "message": "disaggregation is for replicas of at most 8 ranks, each of which hands its KV blocks over at ports of its own; remove it, or lower accelerator.devices"
  },
  {
    "at": [
      "spec"
    ],
    "rule": "!has(self.disaggregation) || !has(self.canary)",
    "fieldPath": ".disaggregation",
    "message": "disaggregation does not work with canary yet: prefill pods are of one revision; remove one of them"
  },
  {
    "at": [
      "spec"
    ],
    "rule": "!has(self.disaggregation) || !has(self.scaling.idleAfterSeconds)",
    "fieldPath": ".disaggregation",
    "message": "disaggregation does not work with scaling.idleAfterSeconds yet; remove one of them"
  },
  {
    "at": [
      "spec"
    ],
    "rule": "!has(self.disaggregation) || !has(self.tls.secretRef)",
    "fieldPath": ".disaggregation",
    "message": "disaggregation does not work with tls.secretRef: prompts and KV blocks travel between pods unencrypted; remove one of them"
  },
  {
    "at": [
      "spec"
    ],
    "rule": "!has(self.disaggregation) || !has(self.engine.prefixCaching) || self.engine.prefixCaching",
    "fieldPath": ".disaggregation",
    "message": "disaggregation needs engine.prefixCaching, since what a prefill pod computes comes into the prefix cache of the decode pod; remove disaggregation, or set engine.prefixCaching to true"
  },
  {
    "at": [
      "spec"
    ],
    "rule": "!has(self.tls.caConfigMapRef) || has(self.tls.secretRef)",
    "fieldPath": ".tls.caConfigMapRef",
    "message": "tls.caConfigMapRef verifies pods that speak HTTPS; add tls.secretRef, or remove it"
  },
  {
    "at": [
      "spec",
      "model"
    ],
    "rule": "!has(self.s3) || !has(self.s3.caConfigMapRef) || !has(self.hub) || !has(self.hub.caConfigMapRef)",
    "fieldPath": ".hub.caConfigMapRef",
    "message": "model.hub.caConfigMapRef and model.s3.caConfigMapRef exclude each other; put all certificates into one ca.crt"
  },
  {
    "at": [
      "spec",
      "model"
    ],
    "rule": "!has(self.oci) || !has(self.oci.caConfigMapRef) || (!has(self.s3) || !has(self.s3.caConfigMapRef)) && (!has(self.hub) || !has(self.hub.caConfigMapRef))",
    "fieldPath": ".oci.caConfigMapRef",
    "message": "model.oci.caConfigMapRef excludes model.s3.caConfigMapRef and model.hub.caConfigMapRef; put all certificates into one ca.crt"
  },
  {
    "at": [
      "spec",
      "model"
    ],
    "rule": "!has(self.list) || !has(self.list.caConfigMapRef) || (!has(self.s3) || !has(self.s3.caConfigMapRef)) && (!has(self.hub) || !has(self.hub.caConfigMapRef)) && (!has(self.oci) || !has(self.oci.caConfigMapRef))",
    "fieldPath": ".list.caConfigMapRef",
    "message": "model.list.caConfigMapRef excludes those of model.s3, model.hub and model.oci; put all certificates into one ca.crt"
  },
  {
    "at": [
      "spec",
      "model"
    ],
    "rule": "!self.uri.startsWith('pvc://') || !has(self.cache) || !has(self.cache.kind) || self.cache.kind == 'emptyDir'",
    "fieldPath": ".cache.kind",
    "message": "model.cache keeps what is pulled, and of a pvc:// URI nothing is; remove model.cache"
  },
  {
    "at": [
      "spec",
      "model"
    ],
    "rule": "!has(self.oci) || !has(self.oci.delivery) || self.oci.delivery != 'imageVolume' || self.uri.startsWith('oci://')",
    "fieldPath": ".oci.delivery",
    "message": "model.oci.delivery imageVolume mounts the artifact of an oci:// URI; name one in model.uri, or remove model.oci.delivery"
  },
  {
    "at": [
      "spec",
      "model"
    ],
    "rule": "!has(self.oci) || !has(self.oci.delivery) || self.oci.delivery != 'imageVolume' || !has(self.cache) || !has(self.cache.kind) || self.cache.kind == 'emptyDir'",
    "fieldPath": ".cache.kind",
    "message": "model.cache keeps what is pulled, and the kubelet keeps images itself; remove model.cache, or set model.oci.delivery to pull"
  },
  {
    "at": [
      "spec",
      "model"
    ],
    "rule": "!has(self.name) || !has(self.aliases) || !(self.name in self.aliases)",
    "fieldPath": ".aliases",
    "message": "model.aliases repeats model.name; remove it from the aliases"
  },
  {
    "at": [
      "spec",
      "model",
      "uri"
    ],
    "rule": "self.matches('^((s3|gs)://[A-Za-z0-9][A-Za-z0-9._-]*(/[^?#\\\\s]*)?|hf://[A-Za-z0-9][A-Za-z0-9._-]*/[A-Za-z0-9][A-Za-z0-9._-]*(@[^/?#\\\\s]+)?(/[^?#\\\\s]*)?|oci://[A-Za-z0-9][A-Za-z0-9.-]*(:[0-9]+)?/[a-z0-9][a-z0-9._/-]*((:[A-Za-z0-9_][A-Za-z0-9_.-]*)?(@sha256:[0-9a-f]{64})?(/[^?#\\\\s]*)?)?|pvc://[a-z0-9][a-z0-9.-]*(/[^?#\\\\s]*)?|https?://[A-Za-z0-9][A-Za-z0-9.:-]*/[^?#\\\\s]+\\\\.json([@/][^?#\\\\s]*)?)$')",
    "fieldPath": "",
    "message": "model.uri must be s3://BUCKET/PREFIX/, the folder that holds config.json, hf://OWNER/NAME@REVISION, oci://REGISTRY/REPOSITORY:TAG, with /FOLDER behind it where it is needed, gs://BUCKET/PREFIX/, pvc://CLAIM/FOLDER or https://HOST/PATH/LIST.json@sha256:DIGEST (over http:// with its digest alone); no other scheme is supported"
  },
  {
    "at": [
      "spec",
      "model",
      "name"
    ],
    "rule": "self.matches('^[A-Za-z0-9]([A-Za-z0-9._/-]*[A-Za-z0-9])?$')",
    "fieldPath": "",
    "message": "model.name may hold letters, digits, '.', '_', '-' and '/', and must begin and end with a letter or a digit"
  },
  {
    "at": [
      "spec",
      "model",
      "aliases",
      "[]"
    ],
    "rule": "self.matches('^[A-Za-z0-9]([A-Za-z0-9._/-]*[A-Za-z0-9])?$')",
    "fieldPath": "",
    "message": "model.aliases may hold letters, digits, '.', '_', '-' and '/', and must begin and end with a letter or a digit"
  },
  {
    "at": [
      "spec",
      "model",
      "cache"
    ],
    "rule": "(has(self.kind) && self.kind == 'hostPath') == has(self.path)",
    "fieldPath": ".path",
    "message": "model.cache.path is the folder of kind hostPath; set both or neither"
  },
  {
    "at": [
      "spec",
      "model",
      "cache"
    ],
    "rule": "(has(self.kind) && self.kind == 'pvc') == has(self.claimName)",
    "fieldPath": ".claimName",
    "message": "model.cache.claimName is the claim of kind pvc; set both or neither"
  },
  {
    "at": [
      "spec",
      "model",
      "cache"
    ],
    "rule": "!has(self.maxSize) || (has(self.kind) && self.kind != 'emptyDir')",
    "fieldPath": ".maxSize",
    "message": "model.cache.maxSize limits a shared cache; set model.cache.kind to hostPath or pvc, or remove it"
  },
  {
    "at": [
      "spec",
      "model",
      "cache"
    ],
    "rule": "!has(self.prePull) || !self.prePull || (has(self.kind) && self.kind != 'emptyDir')",
    "fieldPath": ".prePull",
    "message": "model.cache.prePull fills a shared cache; set model.cache.kind to hostPath or pvc, or remove it"
  },
  {
    "at": [
      "spec",
      "model",
      "cache",
      "path"
    ],
    "rule": "self.matches('^(/[^/:]+)+$') && !self.matches('(^|/)[.][.]?(/|$)')",
    "fieldPath": "",
    "message": "model.cache.path must be absolute, without '.', '..', ':' and a trailing slash"
  },
  {
    "at": [
      "spec",
      "adapters",
      "[]",
      "name"
    ],
    "rule": "self.matches('^[A-Za-z0-9]([A-Za-z0-9._/-]*[A-Za-z0-9])?$')",
    "fieldPath": "",
    "message": "adapters.name may hold letters, digits, '.', '_', '-' and '/', and must begin and end with a letter or a digit"
  },
  {
    "at": [
      "spec",
      "adapters",
      "[]",
      "uri"
    ],
    "rule": "self.matches('^((s3|gs)://[A-Za-z0-9][A-Za-z0-9._-]*(/[^?#\\\\s]*)?|hf://[A-Za-z0-9][A-Za-z0-9._-]*/[A-Za-z0-9][A-Za-z0-9._-]*(@[^/?#\\\\s]+)?(/[^?#\\\\s]*)?|oci://[A-Za-z0-9][A-Za-z0-9.-]*(:[0-9]+)?/[a-z0-9][a-z0-9._/-]*((:[A-Za-z0-9_][A-Za-z0-9_.-]*)?(@sha256:[0-9a-f]{64})?(/[^?#\\\\s]*)?)?|pvc://[a-z0-9][a-z0-9.-]*(/[^?#\\\\s]*)?|https?://[A-Za-z0-9][A-Za-z0-9.:-]*/[^?#\\\\s]+\\\\.json([@/][^?#\\\\s]*)?)$')",
    "fieldPath": "",
    "message": "adapters.uri must be s3://BUCKET/PREFIX/, the folder that holds adapter_config.json, hf://OWNER/NAME@REVISION, oci://REGISTRY/REPOSITORY:TAG, with /FOLDER behind it where it is needed, gs://BUCKET/PREFIX/, pvc://CLAIM/FOLDER or https://HOST/PATH/LIST.json@sha256:DIGEST (over http:// with its digest alone); no other scheme is supported"
  },
  {
    "at": [
      "spec",
      "accelerator"
    ],
    "rule": "!has(self.claim) || !has(self.resourceName) || self.resourceName == 'none'",
    "fieldPath": ".resourceName",
    "message": "accelerator.resourceName and accelerator.claim ask for the devices twice; remove one of them"
  },
  {
    "at": [
      "spec",
      "accelerator"
    ],
    "rule": "!has(self.claim) || has(self.profile)",
    "fieldPath": ".profile",
    "message": "accelerator.profile must say what the devices of accelerator.claim are: their vendor and memory; set it to a profile of deploy/docs/accelerators.md"
  },
  {
    "at": [
      "spec",
      "accelerator",
      "resourceName"
    ],
    "rule": "self == 'none' || self.matches('^(amd|nvidia)\\\\.com/[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$')",
    "fieldPath": "",
    "message": "accelerator.resourceName must be none (CPU) or a resource of amd.com or nvidia.com, such as amd.com/gpu or nvidia.com/gpu"
  },
  {
    "at": [
      "spec",
      "accelerator",
      "claim"
    ],
    "rule": "!has(self.templateName) || (!has(self.deviceClassName) && !has(self.selectors))",
    "fieldPath": ".templateName",
    "message": "accelerator.claim.templateName names a whole claim; remove deviceClassName and selectors, or remove templateName to have the claim planned"
  },
  {
    "at": [
      "spec",
      "engine"
    ],
    "rule": "!has(self.maxNumBatchedTokens) || !has(self.maxNumSeqs) || self.maxNumBatchedTokens >= self.maxNumSeqs + 64",
    "fieldPath": ".maxNumBatchedTokens",
    "message": "engine.maxNumBatchedTokens must be at least engine.maxNumSeqs + 64; raise maxNumBatchedTokens or lower maxNumSeqs"
  },
  {
    "at": [
      "spec",
      "engine"
    ],
    "rule": "!has(self.maxNumBatchedTokens) || !has(self.maxNumSeqs) || !has(self.speculative) || !has(self.speculative.method) || !has(self.speculative.tokens) || self.speculative.method == 'none' || self.maxNumBatchedTokens >= self.maxNumSeqs * (1 + self.speculative.tokens) + 64",
    "fieldPath": ".maxNumBatchedTokens",
    "message": "engine.maxNumBatchedTokens must be at least engine.maxNumSeqs x (1 + engine.speculative.tokens) + 64; raise maxNumBatchedTokens or lower one of the others"
  },
  {
    "at": [
      "spec",
      "engine"
    ],
    "rule": "!has(self.reasoningParser) || (has(self.runtime) && self.runtime == 'vllm') || self.reasoningParser in ['deepseek_r1', 'gemma4', 'glm45', 'mistral', 'qwen3']",
    "fieldPath": ".reasoningParser",
    "message": "engine.reasoningParser of the native runtime is one of deepseek_r1, gemma4, glm45, mistral and qwen3; remove it to use the reasoning markers of the tokenizer, or set engine.runtime to vllm"
  },
  {
    "at": [
      "spec",
      "engine"
    ],
    "rule": "!has(self.toolCallParser) || (has(self.runtime) && self.runtime == 'vllm') || self.toolCallParser in ['deepseek_v3', 'deepseek_v31', 'functiongemma', 'gemma4', 'glm45', 'glm47', 'hermes', 'hunyuan_a13b', 'llama3_json', 'minimax', 'minimax_m2', 'mistral', 'nemotron_json', 'qwen3_coder', 'qwen3_xml', 'seed_oss', 'xlam']",
    "fieldPath": ".toolCallParser",
    "message": "engine.toolCallParser of the native runtime is one of deepseek_v3, deepseek_v31, functiongemma, gemma4, glm45, glm47, hermes, hunyuan_a13b, llama3_json, minimax, minimax_m2, mistral, nemotron_json, qwen3_coder, qwen3_xml, seed_oss and xlam; remove it to use the format of the chat template, or set engine.runtime to vllm"
  },
  {
    "at": [
      "spec",
      "engine"
    ],
    "rule": "!has(self.args) || (has(self.runtime) && self.runtime == 'vllm')",
    "fieldPath": ".args",
    "message": "engine.args are for engine.runtime vllm; remove them, or set engine.runtime to vllm"
  },
  {
    "at": [
      "spec",
      "engine"
    ],
    "rule": "!has(self.runtime) || self.runtime != 'vllm' || !has(self.quantization) || self.quantization != 'int8'",
    "fieldPath": ".quantization",
    "message": "engine.quantization int8 is supported by the native runtime alone; use fp8 or none, or set engine.runtime to native"
  },
  {
    "at": [
      "spec",
      "engine"
    ],
    "rule": "!has(self.runtime) || self.runtime != 'vllm' || !has(self.exactness) || self.exactness != 'float32'",
    "fieldPath": ".exactness",
    "message": "engine.exactness float32 is supported by the native runtime alone; remove it, or set engine.runtime to native"
  },
  {
    "at": [
      "spec",
      "engine"
    ],
    "rule": "!has(self.runtime) || self.runtime != 'vllm' || !has(self.speculative) || !has(self.speculative.uri)",
    "fieldPath": ".speculative.uri",
    "message": "engine.speculative.uri is supported by the native runtime alone; remove it, or set engine.runtime to native"
  },
  {
    "at": [
      "spec",
      "engine"
    ],
    "rule": "!has(self.runtime) || self.runtime != 'vllm' || !has(self.thinkingDefault)",
    "fieldPath": ".thinkingDefault",
    "message": "engine.thinkingDefault is supported by the native runtime alone; remove it, or set engine.runtime to native"
  },
  {
    "at": [
      "spec",
      "engine"
    ],
    "rule": "!has(self.runtime) || self.runtime != 'vllm' || !has(self.toolsWithoutTemplate)",
    "fieldPath": ".toolsWithoutTemplate",
    "message": "engine.toolsWithoutTemplate is supported by the native runtime alone; remove it, or set engine.runtime to native"
  },
  {
    "at": [
      "spec",
      "engine"
    ],
    "rule": "!has(self.runtime) || self.runtime != 'vllm' || !has(self.classifierFromToken)",
    "fieldPath": ".classifierFromToken",
    "message": "engine.classifierFromToken is supported by the native runtime alone; give vLLM its --hf-overrides in engine.args, or set engine.runtime to native"
  },
  {
    "at": [
      "spec",
      "engine"
    ],
    "rule": "!has(self.runtime) || self.runtime != 'vllm' || !has(self.maxAdapters)",
    "fieldPath": ".maxAdapters",
    "message": "engine.maxAdapters is supported by the native runtime alone; remove it, or set engine.runtime to native"
  },
  {
    "at": [
      "spec",
      "engine"
    ],
    "rule": "!has(self.runtime) || self.runtime != 'vllm' || !has(self.samplingDefaults)",
    "fieldPath": ".samplingDefaults",
    "message": "engine.samplingDefaults is supported by the native runtime alone; remove it, or set engine.runtime to native"
  },
  {
    "at": [
      "spec",
      "engine",
      "speculative"
    ],
    "rule": "!has(self.uri) || self.method in ['mtp', 'eagle3', 'draft_model']",
    "fieldPath": ".uri",
    "message": "engine.speculative.uri works with methods mtp, eagle3 and draft_model only; set engine.speculative.method to one of them, or remove the uri"
  },
  {
    "at": [
      "spec",
      "engine",
      "speculative"
    ],
    "rule": "!has(self.method) || !(self.method in ['eagle3', 'draft_model']) || has(self.uri)",
    "fieldPath": ".method",
    "message": "engine.speculative.method eagle3 or draft_model takes its draft model from engine.speculative.uri, which is not set; set it, or take another method"
  },
  {
    "at": [
      "spec",
      "engine",
      "speculative",
      "uri"
    ],
    "rule": "self.matches('^((s3|gs)://[A-Za-z0-9][A-Za-z0-9._-]*(/[^?#\\\\s]*)?|hf://[A-Za-z0-9][A-Za-z0-9._-]*/[A-Za-z0-9][A-Za-z0-9._-]*(@[^/?#\\\\s]+)?(/[^?#\\\\s]*)?|oci://[A-Za-z0-9][A-Za-z0-9.-]*(:[0-9]+)?/[a-z0-9][a-z0-9._/-]*((:[A-Za-z0-9_][A-Za-z0-9_.-]*)?(@sha256:[0-9a-f]{64})?(/[^?#\\\\s]*)?)?|pvc://[a-z0-9][a-z0-9.-]*(/[^?#\\\\s]*)?|https?://[A-Za-z0-9][A-Za-z0-9.:-]*/[^?#\\\\s]+\\\\.json([@/][^?#\\\\s]*)?)$')",
    "fieldPath": "",
    "message": "engine.speculative.uri must be s3://BUCKET/PREFIX/, the folder that holds config.json, hf://OWNER/NAME@REVISION, oci://REGISTRY/REPOSITORY:TAG, with /FOLDER behind it where it is needed, gs://BUCKET/PREFIX/, pvc://CLAIM/FOLDER or https://HOST/PATH/LIST.json@sha256:DIGEST (over http:// with its digest alone); no other scheme is supported"
  },
  {
    "at": [
      "spec",
      "env",
      "[]"
    ],
    "rule": "self.name.matches('^[A-Za-z_][A-Za-z0-9_]*$')",
    "fieldPath": ".name",
    "message": "env names must begin with a letter or '_' and hold only letters, digits and '_'"
  },
  {
    "at": [
      "spec",
      "env",
      "[]"
    ],
    "rule": "!self.name.startsWith(\"LLMSERVICE_\")",
    "fieldPath": ".name",
    "message": "env names that begin with LLMSERVICE_ belong to the operator; choose another name"
  },
  {
    "at": [
      "spec",
      "env",
      "[]"
    ],
    "rule": "!(self.name in [\"LD_AUDIT\", \"LD_PRELOAD\", \"NODE_OPTIONS\", \"NODE_PATH\", \"PYTHONHOME\", \"PYTHONPATH\", \"PYTHONSTARTUP\"])",
    "fieldPath": ".name",
    "message": "this env would make the image run code that is not its own; remove it, or put it into an image that the operator allows"
  },
  {
    "at": [
      "spec",
      "env",
      "[]"
    ],
    "rule": "!(has(self.value) && has(self.valueFrom))",
    "fieldPath": ".valueFrom",
    "message": "env takes value or valueFrom, not both; remove one of them"
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
  },
  {
    "at": [
      "spec",
      "podLabels"
    ],
    "rule": "self.all(key, !key.startsWith('llmservice.dev/') && !key.startsWith('app.kubernetes.io/'))",
    "fieldPath": "",
    "message": "podLabels has a label under llmservice.dev/ or app.kubernetes.io/, which belong to the operator; choose another name"
  },
  {
    "at": [
      "spec",
      "podAnnotations"
    ],
    "rule": "self.all(key, !key.startsWith('llmservice.dev/'))",
    "fieldPath": "",
    "message": "podAnnotations has an annotation under llmservice.dev/, which belongs to the operator; choose another name"
  },
  {
    "at": [
      "spec",
      "scaling"
    ],
    "rule": "!has(self.minReplicas) || (has(self.maxReplicas) && self.minReplicas <= self.maxReplicas)",
    "fieldPath": ".minReplicas",
    "message": "scaling.minReplicas is the lower bound of scaling by load: set scaling.maxReplicas to at least as many, or set replicas for a fixed number"
  },
  {
    "at": [
      "spec",
      "scaling"
    ],
    "rule": "!has(self.target) || has(self.maxReplicas)",
    "fieldPath": ".target",
    "message": "scaling.target needs scaling.maxReplicas, which enables scaling by load; set both"
  },
  {
    "at": [
      "spec",
      "scaling"
    ],
    "rule": "!has(self.target) || self.metric != 'kvUsage' || self.target <= 100",
    "fieldPath": ".target",
    "message": "scaling.target of kvUsage is a percentage; set it to 100 or less"
  },
  {
    "at": [
      "spec",
      "scaling"
    ],
    "rule": "!has(self.schedules) || !has(self.maxReplicas) || self.schedules.all(schedule, schedule.minReplicas <= self.maxReplicas)",
    "fieldPath": ".schedules",
    "message": "scaling.schedules requests more replicas than scaling.maxReplicas; lower its minReplicas, or raise maxReplicas"
  },
  {
    "at": [
      "spec",
      "budget"
    ],
    "rule": "!has(self.deviceHoursPerMonth) || !has(self.costPerMonth)",
    "fieldPath": ".deviceHoursPerMonth",
    "message": "budget takes one limit, deviceHoursPerMonth or costPerMonth; remove the other"
  },
  {
    "at": [
      "spec",
      "budget"
    ],
    "rule": "!has(self.costPerMonth) || has(self.costPerDeviceHour)",
    "fieldPath": ".costPerDeviceHour",
    "message": "budget.costPerMonth needs budget.costPerDeviceHour, the price of a device; set both"
  },
  {
    "at": [
      "spec",
      "routing"
    ],
    "rule": "!has(self.pathPrefix) || has(self.host)",
    "fieldPath": ".pathPrefix",
    "message": "routing.pathPrefix needs routing.host, the host that it is a path of; set both"
  },
  {
    "at": [
      "spec",
      "routing"
    ],
    "rule": "!has(self.fallback) || has(self.host)",
    "fieldPath": ".fallback",
    "message": "routing.fallback needs routing.host, the route that falls back; set both"
  },
  {
    "at": [
      "spec",
      "routing"
    ],
    "rule": "!has(self.backend) || self.backend != 'inferencePool' || has(self.host)",
    "fieldPath": ".backend",
    "message": "routing.backend inferencePool needs routing.host, the route that leads to the pool; set both"
  },
  {
    "at": [
      "spec",
      "routing"
    ],
    "rule": "!has(self.backend) || self.backend != 'inferencePool' || !has(self.provider) || self.provider in ['auto', 'gatewayApi']",
    "fieldPath": ".backend",
    "message": "routing.backend inferencePool needs an HTTPRoute, since no other route leads to an InferencePool; set routing.provider to gatewayApi or auto"
  },
  {
    "at": [
      "spec",
      "routing",
      "host"
    ],
    "rule": "self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$')",
    "fieldPath": "",
    "message": "routing.host must be a host name in lower case, such as qwen36-27b.experimental.example.org, without scheme, port or path"
  },
  {
    "at": [
      "spec",
      "routing",
      "pathPrefix"
    ],
    "rule": "self.matches('^(/[A-Za-z0-9]([A-Za-z0-9._~-]*[A-Za-z0-9])?)+$')",
    "fieldPath": "",
    "message": "routing.pathPrefix must begin with '/' and not end with it, such as /qwen36-27b or /models/qwen36-27b"
  },
  {
    "at": [
      "spec",
      "server",
      "cors",
      "origins",
      "[]"
    ],
    "rule": "self.matches('^([*]|[a-z][a-z0-9+.-]*://[^\\\\s/?#@,A-Z]+)$')",
    "fieldPath": "",
    "message": "each of server.cors.origins must be * or SCHEME://HOST[:PORT] in lower case, without a path"
  },
  {
    "at": [
      "spec",
      "server",
      "storedResponses",
      "uri"
    ],
    "rule": "self.matches('^s3://[A-Za-z0-9][A-Za-z0-9._-]*(/[^?#\\\\s]*)?$')",
    "fieldPath": "",
    "message": "server.storedResponses.uri must be s3://BUCKET/PREFIX/, the folder to write objects to; no other scheme is supported"
  },
  {
    "at": [
      "spec",
      "server",
      "batches",
      "uri"
    ],
    "rule": "self.matches('^s3://[A-Za-z0-9][A-Za-z0-9._-]*(/[^?#\\\\s]*)?$')",
    "fieldPath": "",
    "message": "server.batches.uri must be s3://BUCKET/PREFIX/, the folder to write objects to; no other scheme is supported"
  },
  {
    "at": [
      "spec",
      "requestLog",
      "uri"
    ],
    "rule": "self.matches('^s3://[A-Za-z0-9][A-Za-z0-9._-]*(/[^?#\\\\s]*)?$')",
    "fieldPath": "",
    "message": "requestLog.uri must be s3://BUCKET/PREFIX/, the folder to write objects to; no other scheme is supported"
  },
  {
    "at": [
      "spec",
      "administration",
      "allowedUris",
      "[]"
    ],
    "rule": "self.matches('^s3://[A-Za-z0-9][A-Za-z0-9._-]*(/[^?#,\\\\s]*)?$')",
    "fieldPath": "",
    "message": "each of administration.allowedUris must be s3://BUCKET/PREFIX/, without commas; no other scheme is supported"
  },
  {
    "at": [
      "spec",
      "canary",
      "steps",
      "[]"
    ],
    "rule": "(has(self.weight) && self.weight > 0) || (has(self.mirrorPercent) && self.mirrorPercent > 0)",
    "fieldPath": "",
    "message": "each of canary.steps must send the canary something; set weight or mirrorPercent to 1 or more"
  }
];
