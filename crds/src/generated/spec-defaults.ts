// Generated from crds/llmservices.llmservice.dev.yaml by `npm run generate`. Do not edit.

/** What the API server fills in where a manifest says nothing. */
export const specDefaults = {
  "model": {
    "s3": {
      "forcePathStyle": true
    },
    "hub": {},
    "oci": {
      "delivery": "pull",
      "plainHttp": false
    },
    "list": {},
    "cache": {
      "kind": "emptyDir",
      "verify": "onPull",
      "prePull": false
    }
  },
  "accelerator": {
    "resourceName": "none",
    "devices": 1
  },
  "parallelism": {
    "pipeline": 1,
    "nodes": 1
  },
  "engine": {
    "runtime": "native",
    "memoryUtilizationPercent": 85,
    "maxNumSeqs": 64,
    "maxNumBatchedTokens": 2048,
    "blockSize": 64,
    "prefixCaching": true,
    "dtype": "auto",
    "exactness": "auto",
    "kvCacheDtype": "auto",
    "quantization": "none",
    "speculative": {
      "method": "none",
      "tokens": 3
    },
    "maxAdapterRank": 16,
    "collectives": "auto",
    "selfCheck": true,
    "warmup": {
      "preset": "auto",
      "timeLimitSeconds": 300
    }
  },
  "sharedMemory": {},
  "replicas": 1,
  "scaling": {
    "metric": "concurrency",
    "provider": "auto",
    "scaleDownStabilizationSeconds": 300,
    "wakeTimeoutSeconds": 600
  },
  "budget": {
    "timeZone": "UTC",
    "action": "stop"
  },
  "stop": false,
  "routing": {
    "provider": "auto",
    "backend": "service"
  },
  "tls": {},
  "auth": {
    "maxReplicas": 1,
    "protectMetrics": false
  },
  "accounting": {},
  "compatibility": "none",
  "rollout": {
    "strategy": "Auto",
    "drainTimeoutSeconds": 120,
    "noProgressTimeoutSeconds": 300
  }
} as const;
