// Generated from crds/llmservices.llmservice.dev.yaml by `npm run generate`. Do not edit.

export const llmServiceSchema: object = {
  "description": "An open-weights large language model, served from one manifest.",
  "type": "object",
  "title": "LlmService",
  "additionalProperties": false,
  "properties": {
    "apiVersion": {
      "type": "string",
      "enum": [
        "llmservice.dev/v1alpha1"
      ]
    },
    "kind": {
      "type": "string",
      "enum": [
        "LlmService"
      ]
    },
    "metadata": {
      "title": "LlmServiceMetadata",
      "description": "Standard object metadata.",
      "type": "object",
      "required": [
        "name"
      ],
      "additionalProperties": true,
      "properties": {
        "name": {
          "type": "string"
        },
        "namespace": {
          "type": "string"
        },
        "uid": {
          "type": "string"
        },
        "resourceVersion": {
          "type": "string"
        },
        "generation": {
          "type": "integer"
        },
        "creationTimestamp": {
          "type": "string"
        },
        "deletionTimestamp": {
          "type": "string"
        },
        "labels": {
          "type": "object",
          "additionalProperties": {
            "type": "string"
          }
        },
        "annotations": {
          "type": "object",
          "additionalProperties": {
            "type": "string"
          }
        }
      }
    },
    "spec": {
      "description": "Desired state. Only model.uri is required.",
      "type": "object",
      "title": "LlmServiceSpec",
      "additionalProperties": false,
      "properties": {
        "className": {
          "description": "LlmServiceClass of the cluster whose defaults the service takes and whose bounds it keeps (deploy/docs/classes.md). Default: none.",
          "type": "string",
          "minLength": 1,
          "maxLength": 63,
          "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
        },
        "model": {
          "description": "The checkpoint to serve, and the names to serve it under.",
          "type": "object",
          "title": "ModelSpec",
          "additionalProperties": false,
          "properties": {
            "uri": {
              "description": "Location of the checkpoint. A folder, s3://BUCKET/PREFIX/, holds config.json, tokenizer.json and *.safetensors, or one .gguf file. A single file is s3://BUCKET/PREFIX/NAME.gguf; of a split one, name the first part, NAME-00001-of-00003.gguf. A repository of a hub of models is hf://OWNER/NAME, with @REVISION (a branch, tag or commit; main by default) and /FOLDER or /FILE.gguf where they are needed. An artifact in a registry is oci://REGISTRY/REPOSITORY:TAG or @sha256:DIGEST, with /FOLDER or /FILE.gguf behind it. A folder on a PersistentVolumeClaim of this namespace, which pods mount read-only, is pvc://CLAIM/FOLDER. A bucket of Google Cloud Storage, read by its S3 API with model.s3, is gs://BUCKET/PREFIX/. Files that a list over HTTPS names are https://HOST/PATH/LIST.json, with @sha256:DIGEST of the list (over http:// always), and /FOLDER or /FILE.gguf behind it.",
              "type": "string",
              "maxLength": 1024
            },
            "name": {
              "description": "Served model name, which clients send as \"model\". Default: metadata.name.",
              "type": "string",
              "minLength": 1,
              "maxLength": 253
            },
            "aliases": {
              "description": "Additional served names of the same model.",
              "type": "array",
              "maxItems": 16,
              "items": {
                "description": "One additional served name.",
                "type": "string",
                "minLength": 1,
                "maxLength": 253
              }
            },
            "s3": {
              "description": "Access to the bucket. Default: AWS S3 without credentials.",
              "type": "object",
              "default": {},
              "title": "S3Spec",
              "additionalProperties": false,
              "properties": {
                "endpoint": {
                  "description": "Base URL of an S3-compatible server, such as https://s3.example.org. It must be public, or one that the operator allows. Default: AWS S3, of gs:// URIs https://storage.googleapis.com.",
                  "type": "string",
                  "maxLength": 1024
                },
                "region": {
                  "description": "Region that requests are signed for. Default: the environment variable AWS_REGION, otherwise us-east-1.",
                  "type": "string",
                  "minLength": 1,
                  "maxLength": 64
                },
                "forcePathStyle": {
                  "description": "Puts the bucket name into the path instead of the host name, as most S3-compatible servers expect.",
                  "type": "boolean",
                  "default": true
                },
                "credentialsSecretRef": {
                  "description": "Secret of this namespace with the keys AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY. It needs the label llmservice.dev/secret-for=s3. Default: requests are not signed.",
                  "type": "object",
                  "additionalProperties": false,
                  "properties": {
                    "name": {
                      "description": "Name of the Secret.",
                      "type": "string",
                      "minLength": 1,
                      "maxLength": 253
                    }
                  },
                  "required": [
                    "name"
                  ]
                },
                "caConfigMapRef": {
                  "description": "ConfigMap of this namespace whose key ca.crt holds PEM certificates to trust in addition to the system's.",
                  "type": "object",
                  "additionalProperties": false,
                  "properties": {
                    "name": {
                      "description": "Name of the ConfigMap.",
                      "type": "string",
                      "minLength": 1,
                      "maxLength": 253
                    }
                  },
                  "required": [
                    "name"
                  ]
                }
              },
              "required": [
                "forcePathStyle"
              ]
            },
            "hub": {
              "description": "Access to the hub of models of an hf:// URI. Default: huggingface.co without a token.",
              "type": "object",
              "default": {},
              "additionalProperties": false,
              "properties": {
                "endpoint": {
                  "description": "Base URL of a server with the API of the Hugging Face Hub. It must be public, or one that the operator allows. Default: https://huggingface.co.",
                  "type": "string",
                  "maxLength": 1024
                },
                "tokenSecretRef": {
                  "description": "Secret of this namespace with the key HF_TOKEN. It needs the label llmservice.dev/secret-for=hub. Default: requests name nobody.",
                  "type": "object",
                  "additionalProperties": false,
                  "properties": {
                    "name": {
                      "description": "Name of the Secret.",
                      "type": "string",
                      "minLength": 1,
                      "maxLength": 253
                    }
                  },
                  "required": [
                    "name"
                  ]
                },
                "caConfigMapRef": {
                  "description": "ConfigMap of this namespace whose key ca.crt holds PEM certificates to trust in addition to the system's.",
                  "type": "object",
                  "additionalProperties": false,
                  "properties": {
                    "name": {
                      "description": "Name of the ConfigMap.",
                      "type": "string",
                      "minLength": 1,
                      "maxLength": 253
                    }
                  },
                  "required": [
                    "name"
                  ]
                }
              },
              "required": []
            },
            "oci": {
              "description": "Access to the registry of an oci:// URI. Default: over HTTPS, without credentials.",
              "type": "object",
              "default": {},
              "additionalProperties": false,
              "properties": {
                "delivery": {
                  "description": "How pods get the artifact of model.uri. pull: the runtime pulls its files. imageVolume: the kubelet pulls it as an image, with spec.imagePullSecrets, and mounts it read-only, by the digest that the preflight found; Kubernetes has such volumes by default from 1.35 on. Drafts and adapters are pulled.",
                  "type": "string",
                  "default": "pull",
                  "enum": [
                    "pull",
                    "imageVolume"
                  ]
                },
                "plainHttp": {
                  "description": "The registry answers over HTTP, without TLS, such as one inside the cluster. It must be public, or one that the operator allows.",
                  "type": "boolean",
                  "default": false
                },
                "credentialsSecretRef": {
                  "description": "Secret of this namespace of type kubernetes.io/dockerconfigjson, as kubectl create secret docker-registry makes it. It needs the label llmservice.dev/secret-for=oci. Default: requests name nobody.",
                  "type": "object",
                  "additionalProperties": false,
                  "properties": {
                    "name": {
                      "description": "Name of the Secret.",
                      "type": "string",
                      "minLength": 1,
                      "maxLength": 253
                    }
                  },
                  "required": [
                    "name"
                  ]
                },
                "caConfigMapRef": {
                  "description": "ConfigMap of this namespace whose key ca.crt holds PEM certificates to trust in addition to the system's.",
                  "type": "object",
                  "additionalProperties": false,
                  "properties": {
                    "name": {
                      "description": "Name of the ConfigMap.",
                      "type": "string",
                      "minLength": 1,
                      "maxLength": 253
                    }
                  },
                  "required": [
                    "name"
                  ]
                }
              },
              "required": [
                "delivery",
                "plainHttp"
              ]
            },
            "list": {
              "description": "Access to the server of an https:// list of files. Default: requests name nobody.",
              "type": "object",
              "default": {},
              "additionalProperties": false,
              "properties": {
                "tokenSecretRef": {
                  "description": "Secret of this namespace with the key MODEL_LIST_TOKEN, which goes to the host of the list alone, as Authorization: Bearer. It needs the label llmservice.dev/secret-for=list. Default: requests name nobody.",
                  "type": "object",
                  "additionalProperties": false,
                  "properties": {
                    "name": {
                      "description": "Name of the Secret.",
                      "type": "string",
                      "minLength": 1,
                      "maxLength": 253
                    }
                  },
                  "required": [
                    "name"
                  ]
                },
                "caConfigMapRef": {
                  "description": "ConfigMap of this namespace whose key ca.crt holds PEM certificates to trust in addition to the system's.",
                  "type": "object",
                  "additionalProperties": false,
                  "properties": {
                    "name": {
                      "description": "Name of the ConfigMap.",
                      "type": "string",
                      "minLength": 1,
                      "maxLength": 253
                    }
                  },
                  "required": [
                    "name"
                  ]
                }
              },
              "required": []
            },
            "cache": {
              "description": "Storage of pulled weights. On a folder of the node, or on a claim, weights are pulled once: every later pod, of any service, starts from them without reading the bucket.",
              "type": "object",
              "default": {},
              "additionalProperties": false,
              "properties": {
                "kind": {
                  "description": "emptyDir: each pod pulls its own copy. hostPath: a folder of the node, for namespaces that allow hostPath, in folders that the operator is installed to allow. pvc: a PersistentVolumeClaim of this namespace, for namespaces with the restricted profile.",
                  "type": "string",
                  "enum": [
                    "emptyDir",
                    "hostPath",
                    "pvc"
                  ],
                  "default": "emptyDir"
                },
                "path": {
                  "description": "Folder of the node, such as /var/cache/llmservice; the operator must be installed to allow it. Each namespace has its own folder in it, which is created if it is missing.",
                  "type": "string",
                  "minLength": 2,
                  "maxLength": 1024
                },
                "claimName": {
                  "description": "Name of the PersistentVolumeClaim.",
                  "type": "string",
                  "minLength": 1,
                  "maxLength": 253
                },
                "maxSize": {
                  "description": "Max size of the cache. Beyond it, checkpoints that no pod uses are evicted, least recently used first. Default: the size of the disk.",
                  "type": "string",
                  "maxLength": 32
                },
                "verify": {
                  "description": "When files are compared with the digests that S3 keeps. onPull: after the pull; later starts compare size and time only. always: at every start, which reads the files once more.",
                  "type": "string",
                  "enum": [
                    "onPull",
                    "always"
                  ],
                  "default": "onPull"
                },
                "prePull": {
                  "description": "Pulls the weights before a pod starts: by a Job on each node that may serve, or by one Job into the claim.",
                  "type": "boolean",
                  "default": false
                }
              },
              "required": [
                "kind",
                "verify",
                "prePull"
              ]
            }
          },
          "required": [
            "uri",
            "s3",
            "hub",
            "oci",
            "list",
            "cache"
          ]
        },
        "adapters": {
          "description": "LoRA adapters of the model, each served beside it under its own name. Changes of the list take effect without a restart, as long as engine.maxAdapters is set.",
          "type": "array",
          "maxItems": 256,
          "items": {
            "description": "One adapter.",
            "type": "object",
            "additionalProperties": false,
            "properties": {
              "name": {
                "description": "Served name, which clients send as \"model\".",
                "type": "string",
                "minLength": 1,
                "maxLength": 200
              },
              "uri": {
                "description": "Folder with adapter_config.json and adapter_model.safetensors, as PEFT writes them, as s3://BUCKET/PREFIX/; it is read with model.s3. If the files change, give them a new prefix.",
                "type": "string",
                "maxLength": 1024
              }
            },
            "required": [
              "name",
              "uri"
            ]
          }
        },
        "accelerator": {
          "description": "The devices of one replica.",
          "type": "object",
          "default": {},
          "title": "AcceleratorSpec",
          "additionalProperties": false,
          "properties": {
            "profile": {
              "description": "Name of the device type, such as mi300x-cpx-nps4 or h100-3g.40gb. It sets the resource, memory and variables; deploy/docs/accelerators.md lists all profiles. Default: the other fields alone describe the device.",
              "type": "string",
              "maxLength": 64,
              "pattern": "^[a-z0-9][a-z0-9.-]*$"
            },
            "resourceName": {
              "description": "Extended resource of the devices: amd.com/gpu, nvidia.com/gpu or a partition such as nvidia.com/mig-3g.40gb. none: the CPU, or the profile's resource if a profile is set.",
              "type": "string",
              "default": "none",
              "maxLength": 128
            },
            "devices": {
              "description": "Number of devices of one replica. A partition (MI300X CPX, MIG) counts as a device. The native runtime supports max 8 GPUs, unless engine.collectives is library.",
              "type": "integer",
              "format": "int32",
              "default": 1,
              "minimum": 1,
              "maximum": 64
            },
            "memoryPerDevice": {
              "description": "Memory of one device, or of one partition where the card is partitioned. On the CPU: the memory that the engine plans with. Default: on the CPU the memory limit, otherwise the profile's memory or what the engine measures.",
              "type": "string",
              "maxLength": 32
            },
            "claim": {
              "description": "Asks for the devices by a ResourceClaim (resource.k8s.io/v1) in place of an extended resource. {}: the claim is planned from the profile. Default: the extended resource.",
              "type": "object",
              "additionalProperties": false,
              "properties": {
                "templateName": {
                  "description": "ResourceClaimTemplate of the namespace. It must ask for accelerator.devices devices of the profile in all. Default: the operator makes one.",
                  "type": "string",
                  "minLength": 1,
                  "maxLength": 253,
                  "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"
                },
                "deviceClassName": {
                  "description": "DeviceClass of the devices. Default: gpu.nvidia.com, for a MIG partition mig.nvidia.com, or gpu.amd.com, as the vendors' drivers install them.",
                  "type": "string",
                  "minLength": 1,
                  "maxLength": 253,
                  "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"
                },
                "selectors": {
                  "description": "CEL expressions over device, which all must hold, in place of the planned ones. Default: the card and the partition of the profile.",
                  "type": "array",
                  "minItems": 1,
                  "maxItems": 8,
                  "items": {
                    "description": "A CEL expression, such as device.driver == 'gpu.nvidia.com'.",
                    "type": "string",
                    "minLength": 1,
                    "maxLength": 2048
                  }
                }
              },
              "required": []
            }
          },
          "required": [
            "resourceName",
            "devices"
          ]
        },
        "parallelism": {
          "description": "How the model is split over devices.",
          "type": "object",
          "default": {},
          "additionalProperties": false,
          "properties": {
            "tensor": {
              "description": "Number of tensor-parallel ranks of a stage, one per device. Default: accelerator.devices divided by pipeline.",
              "type": "integer",
              "format": "int32",
              "minimum": 1,
              "maximum": 64
            },
            "pipeline": {
              "description": "Number of stages among which the layers are divided, each of tensor ranks. Stages compute different rows at once and pass on less than ranks of a stage do. CPUs alone.",
              "type": "integer",
              "format": "int32",
              "default": 1,
              "minimum": 1,
              "maximum": 64
            },
            "nodes": {
              "description": "Number of pods that share the ranks of one replica, each with as many devices. More than 1 needs the LeaderWorkerSet API in the cluster, and never changes to or from 1.",
              "type": "integer",
              "format": "int32",
              "default": 1,
              "minimum": 1,
              "maximum": 16
            }
          },
          "required": [
            "pipeline",
            "nodes"
          ]
        },
        "engine": {
          "description": "Settings of the inference engine.",
          "type": "object",
          "default": {},
          "title": "EngineSpec",
          "additionalProperties": false,
          "properties": {
            "runtime": {
              "description": "The serving runtime. native: the engine of this project. vllm: a vLLM image, with arguments derived from the same fields, for models that the native engine does not support; deploy/docs/vllm.md lists the differences.",
              "type": "string",
              "default": "native",
              "enum": [
                "native",
                "vllm"
              ]
            },
            "image": {
              "description": "Image of the runtime, from a repository that the operator allows. Default: the image that the operator is installed with for this runtime and device type.",
              "type": "string",
              "minLength": 1,
              "maxLength": 512,
              "pattern": "^\\S+$"
            },
            "args": {
              "description": "Additional arguments of vllm serve, appended to those derived from this spec. If an option is given twice, vLLM takes the last.",
              "type": "array",
              "maxItems": 64,
              "items": {
                "description": "One argument, such as --enable-expert-parallel.",
                "type": "string",
                "minLength": 1,
                "maxLength": 4096
              }
            },
            "reasoningParser": {
              "description": "What stands around reasoning, by vLLM's names of parsers, such as qwen3. Default of the native runtime: <think> where the tokenizer has it, or the channel of Gemma 4; of vLLM: reasoning is not separated from answers.",
              "type": "string",
              "minLength": 1,
              "maxLength": 64,
              "pattern": "^[A-Za-z0-9][A-Za-z0-9_.-]*$"
            },
            "toolCallParser": {
              "description": "How the model writes tool calls, by vLLM's names of parsers, such as hermes or qwen3_xml. Default of the native runtime: as the chat template writes them; of vLLM: no tools.",
              "type": "string",
              "minLength": 1,
              "maxLength": 64,
              "pattern": "^[A-Za-z0-9][A-Za-z0-9_.-]*$"
            },
            "toolsWithoutTemplate": {
              "description": "What requests with tools get if the chat template shows the model none. describe: the system message describes the tools, and how to call them; refuse: status 400, tools_not_supported. Default: describe.",
              "type": "string",
              "enum": [
                "describe",
                "refuse"
              ]
            },
            "classifierFromToken": {
              "description": "Tokens of the vocabulary whose logits behind a prompt are those of labels, as vLLM's classifier_from_token; [no, yes] for Qwen3-Reranker. /classify returns the labels' probabilities; /v1/rerank and /v1/score, of two tokens, that of the second. Default: classifier_from_token of the checkpoint's config.json.",
              "type": "array",
              "minItems": 2,
              "maxItems": 16,
              "items": {
                "description": "One token as the vocabulary spells it.",
                "type": "string",
                "minLength": 1,
                "maxLength": 64
              }
            },
            "maxModelLen": {
              "description": "Max context length: tokens of prompt and output together. Default: the largest that fits; status.memoryPlan.maxModelLen reports it.",
              "type": "integer",
              "format": "int32",
              "minimum": 1,
              "maximum": 16777216
            },
            "memoryUtilizationPercent": {
              "description": "Percentage of a device's memory that the engine may use.",
              "type": "integer",
              "format": "int32",
              "default": 85,
              "minimum": 1,
              "maximum": 100
            },
            "maxNumSeqs": {
              "description": "Max sequences in one step.",
              "type": "integer",
              "format": "int32",
              "default": 64,
              "minimum": 1,
              "maximum": 1024
            },
            "maxNumBatchedTokens": {
              "description": "Max tokens in one step; at least maxNumSeqs + 64. On CPUs the native engine gives prompts fewer, as many as take 250 ms.",
              "type": "integer",
              "format": "int32",
              "default": 2048,
              "minimum": 65,
              "maximum": 1048576
            },
            "blockSize": {
              "description": "Tokens per KV cache block. With the default value, vLLM chooses its own.",
              "type": "integer",
              "format": "int32",
              "default": 64,
              "enum": [
                16,
                32,
                64,
                128
              ]
            },
            "prefixCaching": {
              "description": "Whether a prompt may reuse the cached prefix that it shares with an earlier prompt. Answers do not depend on it.",
              "type": "boolean",
              "default": true
            },
            "dtype": {
              "description": "Data type of the KV cache and of unquantized weights in memory; auto is bfloat16.",
              "type": "string",
              "default": "auto",
              "enum": [
                "auto",
                "bfloat16",
                "float32"
              ]
            },
            "exactness": {
              "description": "Type of activations where they multiply a matrix on the CPU. float32: float32 on every machine. auto: BF16 where the machine multiplies these faster (AVX-512 BF16), but for F16 matrices; 16 bits in fixed point on AVX2 alone, for Q4_K and Q6_K; otherwise float32. GPUs always round; there only auto is valid.",
              "type": "string",
              "default": "auto",
              "enum": [
                "auto",
                "float32"
              ]
            },
            "kvCacheDtype": {
              "description": "Data type of the KV cache; auto is dtype. fp8 (e4m3, one scale per token and head) holds nearly twice the context in the same memory, at some loss of accuracy.",
              "type": "string",
              "default": "auto",
              "enum": [
                "auto",
                "fp8"
              ]
            },
            "quantization": {
              "description": "Quantization of unquantized matrices at load: fp8 (e4m3, one scale per 128x128 block) or int8 (one scale per output). Embeddings, routers and other small matrices stay unquantized.",
              "type": "string",
              "default": "none",
              "enum": [
                "none",
                "fp8",
                "int8"
              ]
            },
            "speculative": {
              "description": "Speculative decoding: draft tokens are proposed, and several are verified in one step. Only speed depends on it, not answers.",
              "type": "object",
              "default": {},
              "title": "SpeculativeSpec",
              "additionalProperties": false,
              "properties": {
                "method": {
                  "description": "Source of draft tokens. ngram: the text that followed the same words earlier, suited to answers that repeat their prompts. mtp: the checkpoint's own layer for multi-token prediction. eagle3: the EAGLE-3 draft model that uri names. draft_model: the smaller model with the same tokenizer that uri names.",
                  "type": "string",
                  "default": "none",
                  "enum": [
                    "none",
                    "ngram",
                    "mtp",
                    "eagle3",
                    "draft_model"
                  ]
                },
                "tokens": {
                  "description": "Max draft tokens per sequence and step. The engine drafts fewer when the measured acceptance rate shows that they do not pay.",
                  "type": "integer",
                  "format": "int32",
                  "default": 3,
                  "minimum": 1,
                  "maximum": 16
                },
                "uri": {
                  "description": "For method mtp: another release of the same model, as s3://BUCKET/PREFIX/, whose layer drafts where the checkpoint has none (such as an NVFP4 release for an FP8 one). Of its weight files, only those with the layer are read. For methods eagle3 and draft_model: the draft model, in safetensors. That of eagle3 was trained for this model; that of draft_model has its vocabulary.",
                  "type": "string",
                  "maxLength": 1024
                }
              },
              "required": [
                "method",
                "tokens"
              ]
            },
            "maxAdapters": {
              "description": "Max LoRA adapters at once, those that administrators load included; the memory plan keeps room for as many. Default: the length of adapters, so that a list of another length restarts the pods.",
              "type": "integer",
              "format": "int32",
              "minimum": 0,
              "maximum": 256
            },
            "maxAdapterRank": {
              "description": "Max rank of a LoRA adapter; the memory plan keeps room for adapters of this rank.",
              "type": "integer",
              "format": "int32",
              "default": 16,
              "minimum": 1,
              "maximum": 256
            },
            "collectives": {
              "description": "Implementation of all-reduce between GPU ranks. own: the engine's, in rank order. library: NCCL or RCCL, which the image must contain; its order varies, so the last bits of answers may differ from run to run. auto: own where devices can access each other's memory, otherwise library.",
              "type": "string",
              "default": "auto",
              "enum": [
                "auto",
                "own",
                "library"
              ]
            },
            "selfCheck": {
              "description": "Whether each rank of the native engine, once loaded, is compared with the checkpoint's values and a scalar reference: one layer of each kind, in well under a second for small models. A device or driver that computes wrongly then fails with EngineNumericalFault before the pod is ready.",
              "type": "boolean",
              "default": true
            },
            "warmup": {
              "description": "Warm-up steps that the native engine runs before it is ready: the largest step, which proves that memory suffices, and the shapes that requests use. Answers do not depend on it.",
              "type": "object",
              "default": {},
              "additionalProperties": false,
              "properties": {
                "preset": {
                  "description": "Shapes to warm up. auto: contexts up to 8,192 tokens on GPUs, none on CPUs. short: contexts up to 1,024. long: contexts above 8,192. all: all of them. none: only those in shapes.",
                  "type": "string",
                  "default": "auto",
                  "enum": [
                    "auto",
                    "short",
                    "long",
                    "all",
                    "none"
                  ]
                },
                "shapes": {
                  "description": "Additional requests to warm up, as PROMPT:MAX: tokens of the prompt, and of prompt and output together, such as 3000:4096. They run before those of the preset.",
                  "type": "array",
                  "maxItems": 32,
                  "items": {
                    "description": "PROMPT:MAX in tokens.",
                    "type": "string",
                    "maxLength": 17,
                    "pattern": "^[1-9][0-9]{0,7}:[1-9][0-9]{0,7}$"
                  }
                },
                "timeLimitSeconds": {
                  "description": "Seconds after which no further shape starts; the log names the shapes that were skipped.",
                  "type": "integer",
                  "format": "int32",
                  "default": 300,
                  "minimum": 1,
                  "maximum": 3600
                }
              },
              "required": [
                "preset",
                "timeLimitSeconds"
              ]
            },
            "thinkingDefault": {
              "description": "Whether the model thinks about requests that do not say whether it should. Default: as the chat template has it, and no on :predict.",
              "type": "boolean"
            },
            "samplingDefaults": {
              "description": "Sampling of requests that do not set it, where it differs from the checkpoint's generation_config.json. Model cards often recommend one set with thinking and one without.",
              "type": "object",
              "additionalProperties": false,
              "properties": {
                "thinking": {
                  "description": "For answers with thinking: the request asks for it, or does not say and thinking is the default.",
                  "type": "object",
                  "additionalProperties": false,
                  "properties": {
                    "temperature": {
                      "description": "Default of temperature; 0 is greedy.",
                      "type": "number",
                      "minimum": 0,
                      "maximum": 2
                    },
                    "topP": {
                      "description": "Default of top_p.",
                      "type": "number",
                      "exclusiveMinimum": 0.000001,
                      "maximum": 1
                    },
                    "topK": {
                      "description": "Default of top_k; 0 and -1 switch it off.",
                      "type": "integer",
                      "format": "int32",
                      "minimum": -1,
                      "maximum": 2147483647
                    },
                    "minP": {
                      "description": "Default of min_p.",
                      "type": "number",
                      "minimum": 0,
                      "maximum": 1
                    },
                    "presencePenalty": {
                      "description": "Default of presence_penalty.",
                      "type": "number",
                      "minimum": -2,
                      "maximum": 2
                    },
                    "frequencyPenalty": {
                      "description": "Default of frequency_penalty.",
                      "type": "number",
                      "minimum": -2,
                      "maximum": 2
                    },
                    "repetitionPenalty": {
                      "description": "Default of repetition_penalty.",
                      "type": "number",
                      "exclusiveMinimum": 0.000001,
                      "maximum": 2
                    }
                  },
                  "required": []
                },
                "plain": {
                  "description": "For answers without thinking.",
                  "type": "object",
                  "additionalProperties": false,
                  "properties": {
                    "temperature": {
                      "description": "Default of temperature; 0 is greedy.",
                      "type": "number",
                      "minimum": 0,
                      "maximum": 2
                    },
                    "topP": {
                      "description": "Default of top_p.",
                      "type": "number",
                      "exclusiveMinimum": 0.000001,
                      "maximum": 1
                    },
                    "topK": {
                      "description": "Default of top_k; 0 and -1 switch it off.",
                      "type": "integer",
                      "format": "int32",
                      "minimum": -1,
                      "maximum": 2147483647
                    },
                    "minP": {
                      "description": "Default of min_p.",
                      "type": "number",
                      "minimum": 0,
                      "maximum": 1
                    },
                    "presencePenalty": {
                      "description": "Default of presence_penalty.",
                      "type": "number",
                      "minimum": -2,
                      "maximum": 2
                    },
                    "frequencyPenalty": {
                      "description": "Default of frequency_penalty.",
                      "type": "number",
                      "minimum": -2,
                      "maximum": 2
                    },
                    "repetitionPenalty": {
                      "description": "Default of repetition_penalty.",
                      "type": "number",
                      "exclusiveMinimum": 0.000001,
                      "maximum": 2
                    }
                  },
                  "required": []
                }
              },
              "required": []
            }
          },
          "required": [
            "runtime",
            "memoryUtilizationPercent",
            "maxNumSeqs",
            "maxNumBatchedTokens",
            "blockSize",
            "prefixCaching",
            "dtype",
            "exactness",
            "kvCacheDtype",
            "quantization",
            "speculative",
            "maxAdapterRank",
            "collectives",
            "selfCheck",
            "warmup"
          ]
        },
        "env": {
          "description": "Environment variables of the runtime container. Child processes of the server, such as the engine, receive only those that devices, collectives and loaders read (CUDA_, HIP_, HSA_, NCCL_, OMP_, LD_LIBRARY_PATH, …), and no credentials. A variable that stands for a field of this spec (MAX_MODEL_LEN, GPU_MEMORY_UTILIZATION, …; deploy/docs/from-kserve.md lists them) sets a field that is unset or at its default. If it contradicts the field, the manifest is refused.",
          "type": "array",
          "maxItems": 128,
          "items": {
            "description": "One environment variable.",
            "type": "object",
            "title": "EnvVar",
            "additionalProperties": false,
            "properties": {
              "name": {
                "description": "Name of the variable.",
                "type": "string",
                "minLength": 1,
                "maxLength": 128
              },
              "value": {
                "description": "Value of the variable. Default: empty.",
                "type": "string",
                "maxLength": 8192
              },
              "valueFrom": {
                "description": "Source of the value.",
                "type": "object",
                "minProperties": 1,
                "maxProperties": 1,
                "additionalProperties": false,
                "properties": {
                  "secretKeyRef": {
                    "description": "A key of a Secret of this namespace. The Secret needs the label llmservice.dev/secret-for=env, or =s3 for variables whose names begin with AWS_.",
                    "type": "object",
                    "additionalProperties": false,
                    "properties": {
                      "name": {
                        "description": "Name of the object.",
                        "type": "string",
                        "minLength": 1,
                        "maxLength": 253
                      },
                      "key": {
                        "description": "Key in the object's data.",
                        "type": "string",
                        "minLength": 1,
                        "maxLength": 253
                      },
                      "optional": {
                        "description": "Whether the object or the key may be absent.",
                        "type": "boolean"
                      }
                    },
                    "required": [
                      "name",
                      "key"
                    ]
                  },
                  "configMapKeyRef": {
                    "description": "A key of a ConfigMap of this namespace.",
                    "type": "object",
                    "additionalProperties": false,
                    "properties": {
                      "name": {
                        "description": "Name of the object.",
                        "type": "string",
                        "minLength": 1,
                        "maxLength": 253
                      },
                      "key": {
                        "description": "Key in the object's data.",
                        "type": "string",
                        "minLength": 1,
                        "maxLength": 253
                      },
                      "optional": {
                        "description": "Whether the object or the key may be absent.",
                        "type": "boolean"
                      }
                    },
                    "required": [
                      "name",
                      "key"
                    ]
                  },
                  "fieldRef": {
                    "description": "A field of the pod.",
                    "type": "object",
                    "additionalProperties": false,
                    "properties": {
                      "fieldPath": {
                        "description": "Path of the field, such as status.podIP.",
                        "type": "string",
                        "minLength": 1,
                        "maxLength": 256
                      }
                    },
                    "required": [
                      "fieldPath"
                    ]
                  }
                },
                "required": []
              }
            },
            "required": [
              "name"
            ]
          }
        },
        "sharedMemory": {
          "description": "/dev/shm of the pod, through which ranks exchange data.",
          "type": "object",
          "default": {},
          "additionalProperties": false,
          "properties": {
            "sizeLimit": {
              "description": "Size of /dev/shm; it counts against the memory limit. Default: what the engine needs.",
              "type": "string",
              "maxLength": 32
            }
          },
          "required": []
        },
        "resources": {
          "description": "Requests and limits of the runtime container. Default: computed from the checkpoint. The operator adds the device from accelerator.",
          "type": "object",
          "title": "ResourcesSpec",
          "additionalProperties": false,
          "properties": {
            "requests": {
              "description": "Resources that the scheduler reserves, by name.",
              "type": "object",
              "maxProperties": 16,
              "additionalProperties": {
                "description": "A quantity such as 4 or 64Gi.",
                "maxLength": 32,
                "pattern": "^[0-9]+(\\.[0-9]+)?(m|k|M|G|T|P|Ki|Mi|Gi|Ti|Pi)?$",
                "type": [
                  "integer",
                  "string"
                ]
              }
            },
            "limits": {
              "description": "Max resources of the container, by name.",
              "type": "object",
              "maxProperties": 16,
              "additionalProperties": {
                "description": "A quantity such as 4 or 64Gi.",
                "maxLength": 32,
                "pattern": "^[0-9]+(\\.[0-9]+)?(m|k|M|G|T|P|Ki|Mi|Gi|Ti|Pi)?$",
                "type": [
                  "integer",
                  "string"
                ]
              }
            }
          },
          "required": []
        },
        "nodeSelector": {
          "description": "Labels that a node must have.",
          "type": "object",
          "maxProperties": 32,
          "additionalProperties": {
            "description": "Value of the label.",
            "type": "string",
            "maxLength": 63
          }
        },
        "affinity": {
          "description": "Scheduling affinity of the pods, as in a pod spec. The API server checks its inner fields when the operator applies the Deployment.",
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "nodeAffinity": {
              "description": "Node affinity (core/v1 NodeAffinity).",
              "type": "object",
              "additionalProperties": true
            },
            "podAffinity": {
              "description": "Pod affinity (core/v1 PodAffinity).",
              "type": "object",
              "additionalProperties": true
            },
            "podAntiAffinity": {
              "description": "Pod anti-affinity (core/v1 PodAntiAffinity).",
              "type": "object",
              "additionalProperties": true
            }
          },
          "required": []
        },
        "tolerations": {
          "description": "Node taints that the pods tolerate.",
          "type": "array",
          "maxItems": 32,
          "items": {
            "description": "One toleration.",
            "type": "object",
            "title": "Toleration",
            "additionalProperties": false,
            "properties": {
              "key": {
                "description": "Key of the taint. Default: every key.",
                "type": "string",
                "minLength": 1,
                "maxLength": 316
              },
              "operator": {
                "description": "How the value is compared. Default: Equal.",
                "type": "string",
                "enum": [
                  "Exists",
                  "Equal"
                ]
              },
              "value": {
                "description": "Value of the taint.",
                "type": "string",
                "maxLength": 63
              },
              "effect": {
                "description": "Effect of the taint. Default: every effect.",
                "type": "string",
                "enum": [
                  "NoSchedule",
                  "PreferNoSchedule",
                  "NoExecute"
                ]
              },
              "tolerationSeconds": {
                "description": "How long the pods tolerate a NoExecute taint. Default: forever.",
                "type": "integer",
                "format": "int64"
              }
            },
            "required": []
          }
        },
        "priorityClassName": {
          "description": "PriorityClass of the pods.",
          "type": "string",
          "minLength": 1,
          "maxLength": 253
        },
        "queueName": {
          "description": "LocalQueue of Kueue that admits the pods. While pods serve, Kueue refuses another name. Default: pods go to the scheduler at once.",
          "type": "string",
          "minLength": 1,
          "maxLength": 63,
          "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
        },
        "topologySpreadConstraints": {
          "description": "How replicas are spread over zones or nodes.",
          "type": "array",
          "maxItems": 16,
          "items": {
            "description": "One constraint.",
            "type": "object",
            "title": "TopologySpreadConstraint",
            "additionalProperties": false,
            "properties": {
              "maxSkew": {
                "description": "Max difference in the number of pods between two domains.",
                "type": "integer",
                "format": "int32",
                "minimum": 1
              },
              "minDomains": {
                "description": "Min number of domains.",
                "type": "integer",
                "format": "int32",
                "minimum": 1
              },
              "topologyKey": {
                "description": "Node label whose values are the domains.",
                "type": "string",
                "minLength": 1,
                "maxLength": 316,
                "pattern": "^([a-z0-9]([-.a-z0-9]*[a-z0-9])?/)?[A-Za-z0-9]([-._A-Za-z0-9]*[A-Za-z0-9])?$"
              },
              "whenUnsatisfiable": {
                "description": "What happens if a pod cannot satisfy the constraint.",
                "type": "string",
                "enum": [
                  "DoNotSchedule",
                  "ScheduleAnyway"
                ]
              },
              "nodeAffinityPolicy": {
                "description": "Whether node affinity limits the domains. Default: Honor.",
                "type": "string",
                "enum": [
                  "Honor",
                  "Ignore"
                ]
              },
              "nodeTaintsPolicy": {
                "description": "Whether taints limit the domains. Default: Ignore.",
                "type": "string",
                "enum": [
                  "Honor",
                  "Ignore"
                ]
              },
              "labelSelector": {
                "description": "Pods to count. Default: the pods of this service.",
                "type": "object",
                "additionalProperties": false,
                "properties": {
                  "matchLabels": {
                    "description": "Labels that a pod must have.",
                    "type": "object",
                    "maxProperties": 16,
                    "additionalProperties": {
                      "description": "Value of the label.",
                      "type": "string",
                      "maxLength": 63
                    }
                  }
                },
                "required": []
              }
            },
            "required": [
              "maxSkew",
              "topologyKey",
              "whenUnsatisfiable"
            ]
          }
        },
        "runtimeClassName": {
          "description": "RuntimeClass of the pods.",
          "type": "string",
          "minLength": 1,
          "maxLength": 253
        },
        "serviceAccountName": {
          "description": "ServiceAccount of the pods, one that the operator allows. The pods get no token for it. Default: default.",
          "type": "string",
          "minLength": 1,
          "maxLength": 253
        },
        "imagePullSecrets": {
          "description": "Secrets of this namespace, of type kubernetes.io/dockerconfigjson, for pulling the runtime image.",
          "type": "array",
          "maxItems": 16,
          "items": {
            "description": "One Secret.",
            "type": "object",
            "additionalProperties": false,
            "properties": {
              "name": {
                "description": "Name of the object.",
                "type": "string",
                "minLength": 1,
                "maxLength": 253
              }
            },
            "required": [
              "name"
            ]
          }
        },
        "supplementalGroups": {
          "description": "Additional group IDs of the pods' processes, such as that of render: for nodes whose device files belong to the group and where no device plugin grants access.",
          "type": "array",
          "maxItems": 16,
          "items": {
            "description": "A group ID.",
            "type": "integer",
            "format": "int64",
            "minimum": 1,
            "maximum": 2147483647
          }
        },
        "podLabels": {
          "description": "Additional pod labels, for network policies, monitors and cost reports.",
          "type": "object",
          "maxProperties": 32,
          "additionalProperties": {
            "description": "Value of the label.",
            "type": "string",
            "maxLength": 63
          }
        },
        "podAnnotations": {
          "description": "Additional pod annotations. Unless auth.protectMetrics is set, the operator adds those by which Prometheus finds /metrics (prometheus.io/scrape and the like); set them here to override them.",
          "type": "object",
          "maxProperties": 32,
          "additionalProperties": {
            "description": "Value of the annotation.",
            "type": "string",
            "maxLength": 4096
          }
        },
        "replicas": {
          "description": "Number of pods, each with its own devices. Leave it out of manifests if kubectl scale or an autoscaler sets it.",
          "type": "integer",
          "format": "int32",
          "default": 1,
          "minimum": 0,
          "maximum": 1000
        },
        "scaling": {
          "description": "Scales the number of pods by load and by schedule, and to zero when the service is idle, until the next request.",
          "type": "object",
          "default": {},
          "additionalProperties": false,
          "properties": {
            "minReplicas": {
              "description": "Min replicas when scaling by load. Default: 1.",
              "type": "integer",
              "format": "int32",
              "minimum": 1,
              "maximum": 1000
            },
            "maxReplicas": {
              "description": "Max replicas when scaling by load; setting it enables scaling by load. Default: replicas is set by hand.",
              "type": "integer",
              "format": "int32",
              "minimum": 1,
              "maximum": 1000
            },
            "metric": {
              "description": "Metric that is kept near target, as an average over the pods. concurrency: running and waiting requests. queue: waiting requests. kvUsage: percentage of the KV cache in use.",
              "type": "string",
              "default": "concurrency",
              "enum": [
                "concurrency",
                "queue",
                "kvUsage"
              ]
            },
            "target": {
              "description": "Target value of the metric per pod. Default: 70 % of engine.maxNumSeqs for concurrency, 4 for queue, 80 for kvUsage.",
              "type": "integer",
              "format": "int32",
              "minimum": 1,
              "maximum": 1000000
            },
            "provider": {
              "description": "The autoscaler. keda: a ScaledObject. hpa: a HorizontalPodAutoscaler. operator: the operator itself, from the pods' metrics. auto: keda where the cluster has it and the operator knows the address of Prometheus, otherwise hpa where the cluster has custom metrics, otherwise operator.",
              "type": "string",
              "default": "auto",
              "enum": [
                "auto",
                "keda",
                "hpa",
                "operator"
              ]
            },
            "scaleDownStabilizationSeconds": {
              "description": "Seconds for which fewer replicas must have sufficed before scaling down.",
              "type": "integer",
              "format": "int32",
              "default": 300,
              "minimum": 0,
              "maximum": 3600
            },
            "schedules": {
              "description": "Periods during which the service does not sleep and has at least minReplicas, however low the load.",
              "type": "array",
              "maxItems": 16,
              "items": {
                "description": "One recurring period.",
                "type": "object",
                "additionalProperties": false,
                "properties": {
                  "name": {
                    "description": "Name of the schedule.",
                    "type": "string",
                    "minLength": 1,
                    "maxLength": 63
                  },
                  "timeZone": {
                    "description": "Time zone of start and end, such as Europe/Berlin.",
                    "type": "string",
                    "default": "UTC",
                    "minLength": 1,
                    "maxLength": 64
                  },
                  "start": {
                    "description": "Start, as a cron expression: minute, hour, day of month, month, day of week, such as \"0 8 * * 1-5\". Pods start earlier, by as long as the last load took, so that they are ready in time.",
                    "type": "string",
                    "maxLength": 128,
                    "pattern": "^\\S+( +\\S+){4}$"
                  },
                  "end": {
                    "description": "End, as a cron expression.",
                    "type": "string",
                    "maxLength": 128,
                    "pattern": "^\\S+( +\\S+){4}$"
                  },
                  "minReplicas": {
                    "description": "Min replicas during the period.",
                    "type": "integer",
                    "format": "int32",
                    "default": 1,
                    "minimum": 1,
                    "maximum": 1000
                  }
                },
                "required": [
                  "name",
                  "start",
                  "end",
                  "timeZone",
                  "minReplicas"
                ]
              }
            },
            "idleAfterSeconds": {
              "description": "Seconds without requests after which the service scales to zero. The next request waits at the operator's activator while a pod loads. Default: the service never scales to zero.",
              "type": "integer",
              "format": "int32",
              "minimum": 1,
              "maximum": 2592000
            },
            "wakeTimeoutSeconds": {
              "description": "Max seconds that a request waits for a pod; then the activator answers 503.",
              "type": "integer",
              "format": "int32",
              "default": 600,
              "minimum": 1,
              "maximum": 86400
            }
          },
          "required": [
            "metric",
            "provider",
            "scaleDownStabilizationSeconds",
            "wakeTimeoutSeconds"
          ]
        },
        "budget": {
          "description": "Limit on device use per calendar month. A device counts from when its pod is bound to a node until the pod is gone, whether it serves or loads. Default: no limit.",
          "type": "object",
          "default": {},
          "additionalProperties": false,
          "properties": {
            "deviceHoursPerMonth": {
              "description": "Max device hours, summed over devices and pods.",
              "type": "integer",
              "format": "int32",
              "minimum": 1,
              "maximum": 10000000
            },
            "costPerMonth": {
              "description": "Max cost of those hours, such as \"2500\" or \"99.50\".",
              "type": "string",
              "maxLength": 32,
              "pattern": "^([1-9][0-9]{0,9}(\\.[0-9]{1,4})?|0\\.[0-9]{0,3}[1-9][0-9]{0,3})$"
            },
            "costPerDeviceHour": {
              "description": "Cost of one device per hour, such as \"2.49\".",
              "type": "string",
              "maxLength": 32,
              "pattern": "^([1-9][0-9]{0,9}(\\.[0-9]{1,4})?|0\\.[0-9]{0,3}[1-9][0-9]{0,3})$"
            },
            "currency": {
              "description": "Currency of both, used in messages only, such as EUR.",
              "type": "string",
              "minLength": 1,
              "maxLength": 16
            },
            "timeZone": {
              "description": "Time zone of the calendar month.",
              "type": "string",
              "default": "UTC",
              "minLength": 1,
              "maxLength": 64
            },
            "action": {
              "description": "What happens when the budget is spent. stop: no pods until the next month, or until the budget is raised. warn: only a condition and an event. Both warn when 80 % is spent.",
              "type": "string",
              "default": "stop",
              "enum": [
                "stop",
                "warn"
              ]
            }
          },
          "required": [
            "timeZone",
            "action"
          ]
        },
        "stop": {
          "description": "true: no pods, whatever replicas says, until it is false again. All other objects of the service stay.",
          "type": "boolean",
          "default": false
        },
        "routing": {
          "description": "Access from outside the cluster.",
          "type": "object",
          "default": {},
          "additionalProperties": false,
          "properties": {
            "host": {
              "description": "Host name of the route at the operator's gateway. Default: no route; the service is reachable only inside the cluster.",
              "type": "string",
              "maxLength": 253
            },
            "pathPrefix": {
              "description": "Path prefix of the API's paths, such as /qwen36-27b, where several services share a host. The route strips it before the server. Default: none.",
              "type": "string",
              "maxLength": 128
            },
            "provider": {
              "description": "Kind of the route. gatewayApi: an HTTPRoute. istio: a VirtualService and a DestinationRule. none: no route, even if host is set. auto: the first of gatewayApi and istio that the cluster has and the operator has a gateway for.",
              "type": "string",
              "default": "auto",
              "enum": [
                "auto",
                "gatewayApi",
                "istio",
                "none"
              ]
            },
            "backend": {
              "description": "Where the route sends completions. service: to the Service, whose pods take turns. inferencePool: to an InferencePool (inference.networking.k8s.io/v1), whose endpoint picker chooses the pod by queue, KV cache and prefix. Until the cluster, the operator and the picker are ready for that, requests go to the Service.",
              "type": "string",
              "default": "service",
              "enum": [
                "service",
                "inferencePool"
              ]
            },
            "fallback": {
              "description": "Service that answers at the public route while no pod of this one serves: while it loads, after it failed, and while it is stopped. Such responses have the header x-llmservice-fallback. Default: none.",
              "type": "object",
              "additionalProperties": false,
              "properties": {
                "service": {
                  "description": "Another LlmService of this namespace. Both must have the same auth.keysSecretRef, or none.",
                  "type": "string",
                  "minLength": 1,
                  "maxLength": 52
                }
              },
              "required": [
                "service"
              ]
            }
          },
          "required": [
            "provider",
            "backend"
          ]
        },
        "networkPolicy": {
          "description": "NetworkPolicy of the pods. It admits only the peers in from, the operator and, where the service may sleep, the activator. It requires a network plugin that enforces NetworkPolicies. Default: none; everything in the cluster can reach the pods.",
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "from": {
              "description": "Peers that may send requests: the pods of the gateway, clients inside the cluster, metrics scrapers. As in the ingress rules of a NetworkPolicy; the API server checks inner fields when the operator applies it.",
              "type": "array",
              "minItems": 1,
              "maxItems": 16,
              "items": {
                "description": "One group of peers.",
                "type": "object",
                "minProperties": 1,
                "additionalProperties": false,
                "properties": {
                  "namespaceSelector": {
                    "description": "Namespaces whose pods are admitted (meta/v1 LabelSelector).",
                    "type": "object",
                    "additionalProperties": true
                  },
                  "podSelector": {
                    "description": "Pods that are admitted, in those namespaces, or in this one without a namespaceSelector (meta/v1 LabelSelector).",
                    "type": "object",
                    "additionalProperties": true
                  },
                  "ipBlock": {
                    "description": "Addresses that are admitted (networking/v1 IPBlock).",
                    "type": "object",
                    "additionalProperties": true
                  }
                },
                "required": []
              }
            }
          },
          "required": [
            "from"
          ]
        },
        "tls": {
          "description": "HTTPS served by the pods themselves, inside the cluster.",
          "type": "object",
          "default": {},
          "additionalProperties": false,
          "properties": {
            "secretRef": {
              "description": "Secret of this namespace with tls.crt and tls.key in PEM, as in type kubernetes.io/tls, and optionally client-ca.crt: the pods then answer only clients with a certificate from its authorities. The Secret needs the label llmservice.dev/secret-for=tls. Changes take effect without a restart. Default: plain HTTP.",
              "type": "object",
              "additionalProperties": false,
              "properties": {
                "name": {
                  "description": "Name of the object.",
                  "type": "string",
                  "minLength": 1,
                  "maxLength": 253
                }
              },
              "required": [
                "name"
              ]
            },
            "caConfigMapRef": {
              "description": "ConfigMap of this namespace whose key ca.crt holds, in PEM, the authorities of the certificate in secretRef. The gateway, the activator and the operator verify the pods with it; the certificate must have the name NAME.NAMESPACE.svc. Required with routing.host and with scaling.idleAfterSeconds.",
              "type": "object",
              "additionalProperties": false,
              "properties": {
                "name": {
                  "description": "Name of the object.",
                  "type": "string",
                  "minLength": 1,
                  "maxLength": 253
                }
              },
              "required": [
                "name"
              ]
            }
          },
          "required": []
        },
        "auth": {
          "description": "Who may use the service, and how much.",
          "type": "object",
          "default": {},
          "title": "AuthSpec",
          "additionalProperties": false,
          "properties": {
            "keysSecretRef": {
              "description": "Secret of this namespace whose key keys.yaml (or keys.json) lists the API keys, as hashes, with their budgets. It needs the label llmservice.dev/secret-for=keys. Changes take effect without a restart. Default: requests need no key.",
              "type": "object",
              "additionalProperties": false,
              "properties": {
                "name": {
                  "description": "Name of the object.",
                  "type": "string",
                  "minLength": 1,
                  "maxLength": 253
                }
              },
              "required": [
                "name"
              ]
            },
            "maxReplicas": {
              "description": "Max number of replicas. Each replica grants a key its budget divided by this number.",
              "type": "integer",
              "format": "int32",
              "default": 1,
              "minimum": 1,
              "maximum": 1000
            },
            "protectMetrics": {
              "description": "Whether /metrics requires a key too, where there are keys. Health routes never require one.",
              "type": "boolean",
              "default": false
            }
          },
          "required": [
            "maxReplicas",
            "protectMetrics"
          ]
        },
        "accounting": {
          "description": "Log of finished requests with the tokens of each, for billing and audits.",
          "type": "object",
          "default": {},
          "title": "AccountingSpec",
          "additionalProperties": false,
          "properties": {
            "persistentVolumeClaimRef": {
              "description": "PersistentVolumeClaim of this namespace to write the log to; it needs access mode ReadWriteMany where replicas run on several nodes. Default: no log.",
              "type": "object",
              "additionalProperties": false,
              "properties": {
                "name": {
                  "description": "Name of the object.",
                  "type": "string",
                  "minLength": 1,
                  "maxLength": 253
                }
              },
              "required": [
                "name"
              ]
            }
          },
          "required": []
        },
        "compatibility": {
          "description": "Serves what clients of another server count on where the protocols leave it open. liftwing: those of Wikimedia's Lift Wing for Qwen 3.6; deploy/docs/from-kserve.md lists what differs.",
          "type": "string",
          "default": "none",
          "enum": [
            "none",
            "liftwing"
          ]
        },
        "server": {
          "description": "Limits and logging of the server in each pod.",
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "maxBodyBytes": {
              "description": "Max size of a request body; the server refuses a larger one with 413. The upper bound is what activators accept for services that sleep. Default: 16777216.",
              "type": "integer",
              "format": "int32",
              "minimum": 1024,
              "maximum": 33554432
            },
            "maxBodiesBytes": {
              "description": "Max total size of decompressed request bodies that a pod holds at once, each until its response ends. Beyond it the pod answers 503, or 429 to a key that holds its share. At least twice maxBodyBytes. A pod needs up to five times as much memory for them. Default: a 32nd of the memory limit, 64 MiB to 512 MiB.",
              "type": "integer",
              "format": "int32",
              "minimum": 1048576,
              "maximum": 2147483647
            },
            "maxConnections": {
              "description": "Max open connections of a pod. At the limit, a new connection closes the one that has been idle longest; if none is idle, the pod answers 503, except on the health routes. Default: 4096.",
              "type": "integer",
              "format": "int32",
              "minimum": 1024,
              "maximum": 65536
            },
            "cors": {
              "description": "Which web pages of other origins may use the service. Their preflights are answered without a key; credentials that a browser keeps, such as cookies, are not allowed, so a page sends its API key itself. Default: none.",
              "type": "object",
              "additionalProperties": false,
              "properties": {
                "origins": {
                  "description": "Origins as browsers send them, such as https://chat.example or http://127.0.0.1:3000, or * for all.",
                  "type": "array",
                  "maxItems": 32,
                  "items": {
                    "description": "An origin.",
                    "type": "string",
                    "maxLength": 256
                  }
                }
              },
              "required": [
                "origins"
              ]
            },
            "trustRequestChatTemplate": {
              "description": "Lets requests of chats bring a chat_template of their own instead of the checkpoint's. Such a template is a program, which may take 5 s of a processor: set it where all clients are trusted. Default: false.",
              "type": "boolean"
            },
            "storedResponses": {
              "description": "Keeps responses of /v1/responses, so that clients can continue them with previous_response_id, fetch and delete them, and run them in the background; and conversations of /v1/conversations. Clients find what they stored by the API key that stored it. Default: none are kept.",
              "type": "object",
              "additionalProperties": false,
              "properties": {
                "uri": {
                  "description": "Where, as s3://BUCKET/PREFIX/, at the checkpoint's endpoint and with its credentials, which must allow reading, writing, listing and deleting there. Default: in the memory of each pod, which other pods do not find, and which ends with the pod.",
                  "type": "string",
                  "maxLength": 1024
                },
                "maxBytes": {
                  "description": "Total size of stored responses; without a uri, memory in addition to what the pod needs otherwise. At the limit, the oldest responses of the API key that stores most are deleted. One response takes at most an eighth, and at most 4 MiB.",
                  "type": "integer",
                  "format": "int32",
                  "minimum": 1048576,
                  "maximum": 2147483647
                },
                "maxCount": {
                  "description": "Max stored responses. Default: 10000.",
                  "type": "integer",
                  "format": "int32",
                  "minimum": 1,
                  "maximum": 1000000
                },
                "maxAgeSeconds": {
                  "description": "Age at which a stored response is deleted. Default: 86400.",
                  "type": "integer",
                  "format": "int32",
                  "minimum": 1,
                  "maximum": 2592000
                }
              },
              "required": [
                "maxBytes"
              ]
            },
            "batches": {
              "description": "Keeps files of /v1/files and runs batches of /v1/batches, whose requests are answered at the lowest priority. Clients find what they stored by the API key that stored it. Default: no files are kept and no batches run.",
              "type": "object",
              "additionalProperties": false,
              "properties": {
                "uri": {
                  "description": "Where, as s3://BUCKET/PREFIX/, at the checkpoint's endpoint and with its credentials, which must allow reading, writing, listing and deleting there. The store must support conditional writes (If-None-Match and If-Match of PutObject). Default: in the memory of each pod, which other pods do not find, and which ends with the pod.",
                  "type": "string",
                  "maxLength": 1024
                },
                "maxBytes": {
                  "description": "Total size of files; without a uri, memory in addition to what the pod needs otherwise. At the limit uploads are refused: 503, or 429 for an API key that stores more than twice what it leaves free.",
                  "type": "integer",
                  "format": "int64",
                  "minimum": 1048576,
                  "maximum": 1099511627776
                },
                "maxFileBytes": {
                  "description": "Max size of an uploaded file. Default: 209715200.",
                  "type": "integer",
                  "format": "int32",
                  "minimum": 1024,
                  "maximum": 1073741824
                },
                "maxAgeSeconds": {
                  "description": "Age at which a file or batch is deleted. Default: 2592000.",
                  "type": "integer",
                  "format": "int32",
                  "minimum": 3600,
                  "maximum": 31536000
                },
                "maxConcurrent": {
                  "description": "Max requests of batches that a pod answers at once. Default: half of engine.maxNumSeqs.",
                  "type": "integer",
                  "format": "int32",
                  "minimum": 1,
                  "maximum": 1024
                }
              },
              "required": [
                "maxBytes"
              ]
            },
            "maxWaiting": {
              "description": "Max answers that wait in a pod in addition to the engine.maxNumSeqs that run; a request with n counts n times. The pod refuses more with 503, or with 429 a key that holds its share of this queue; a scaling.metric of queue does not count those. Default: 1024.",
              "type": "integer",
              "format": "int32",
              "minimum": 0,
              "maximum": 100000
            },
            "mostUrgentPriority": {
              "description": "Lowest, and so most urgent, priority that requests may set in a service without keys; each key has its own bound. Default: 0, so that requests can only lower their urgency.",
              "type": "integer",
              "format": "int32",
              "minimum": -8,
              "maximum": 0
            },
            "logLevel": {
              "description": "Lowest severity that a pod logs. Requests are logged at info, and kubectl llm drain counts those lines. Default: info.",
              "type": "string",
              "enum": [
                "error",
                "warn",
                "info",
                "debug"
              ]
            }
          },
          "required": []
        },
        "requestLog": {
          "description": "Writes the lines of the access log as objects to S3, at the checkpoint's endpoint and with its credentials. Default: none.",
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "uri": {
              "description": "Destination, as s3://BUCKET/PREFIX/; the credentials must allow writing there.",
              "type": "string",
              "maxLength": 1024
            },
            "text": {
              "description": "Whether lines contain prompts and answers too, that is, what people wrote. By default no line does.",
              "type": "boolean",
              "default": false
            }
          },
          "required": [
            "uri",
            "text"
          ]
        },
        "administration": {
          "description": "Administration port of each pod, for users who may forward ports to it: list and end running requests, flush the cache, drain, load other weights. Default: none.",
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "keysSecretRef": {
              "description": "Secret of this namespace whose key keys.yaml (or keys.json) lists the keys of administrators, as hashes. It needs the label llmservice.dev/secret-for=administration. Changes take effect without a restart.",
              "type": "object",
              "additionalProperties": false,
              "properties": {
                "name": {
                  "description": "Name of the object.",
                  "type": "string",
                  "minLength": 1,
                  "maxLength": 253
                }
              },
              "required": [
                "name"
              ]
            },
            "allowedUris": {
              "description": "Checkpoints that administrators may load in addition to model.uri: each as s3://BUCKET/PREFIX/, including everything below it. Default: none.",
              "type": "array",
              "maxItems": 32,
              "items": {
                "description": "A prefix of a bucket.",
                "type": "string",
                "maxLength": 1024
              }
            }
          },
          "required": [
            "keysSecretRef"
          ]
        },
        "rollout": {
          "description": "How pods are replaced, and the time limits of startup and shutdown.",
          "type": "object",
          "default": {},
          "additionalProperties": false,
          "properties": {
            "strategy": {
              "description": "Surge: a new pod serves before an old one is removed; it waits for its devices. Drain: an old pod is removed first. Auto: Surge where a node has room for one more pod, otherwise Drain.",
              "type": "string",
              "enum": [
                "Auto",
                "Surge",
                "Drain"
              ],
              "default": "Auto"
            },
            "drainTimeoutSeconds": {
              "description": "Time that running requests have to finish, and clients to read their answers, after a pod is asked to stop.",
              "type": "integer",
              "format": "int32",
              "default": 120,
              "minimum": 0,
              "maximum": 3600
            },
            "noProgressTimeoutSeconds": {
              "description": "Time without progress after which a load counts as failed. A load that makes progress may take as long as it needs.",
              "type": "integer",
              "format": "int32",
              "default": 300,
              "minimum": 10,
              "maximum": 86400
            }
          },
          "required": [
            "strategy",
            "drainTimeoutSeconds",
            "noProgressTimeoutSeconds"
          ]
        },
        "canary": {
          "description": "How a new revision is tried on a part of the requests at routing.host before it replaces the stable one. A change of the spec that replaces pods starts it; the pods of the stable revision stay until the last step has passed. Default: none; a new revision replaces the old one at once.",
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "replicas": {
              "description": "Pods of the canary, beside those of the stable revision.",
              "type": "integer",
              "format": "int32",
              "default": 1,
              "minimum": 1,
              "maximum": 1000
            },
            "steps": {
              "description": "What the canary gets, one step after the other. After the last one it becomes the stable revision.",
              "type": "array",
              "minItems": 1,
              "maxItems": 20,
              "items": {
                "description": "One step.",
                "type": "object",
                "additionalProperties": false,
                "properties": {
                  "weight": {
                    "description": "Percentage of the requests that the canary answers.",
                    "type": "integer",
                    "format": "int32",
                    "default": 0,
                    "minimum": 0,
                    "maximum": 100
                  },
                  "mirrorPercent": {
                    "description": "Percentage of the stable revision's requests that the canary gets too. Nobody sees its answers.",
                    "type": "integer",
                    "format": "int32",
                    "default": 0,
                    "minimum": 0,
                    "maximum": 100
                  },
                  "pauseSeconds": {
                    "description": "How long the step lasts. Default: until the annotation llmservice.dev/promote names the canary's revision, status.canary.revision.",
                    "type": "integer",
                    "format": "int32",
                    "minimum": 1,
                    "maximum": 2592000
                  }
                },
                "required": [
                  "weight",
                  "mirrorPercent"
                ]
              }
            },
            "analysis": {
              "description": "Compares the metrics of the canary's pods with those of the stable pods since the step began. A canary that is worse is taken back; a step ends only after one that is not. Default: none; only a canary whose pods fail is taken back.",
              "type": "object",
              "additionalProperties": false,
              "properties": {
                "minRequests": {
                  "description": "Requests that both must have answered in a step before they are compared.",
                  "type": "integer",
                  "format": "int32",
                  "default": 50,
                  "minimum": 1,
                  "maximum": 1000000
                },
                "maxErrorPoints": {
                  "description": "Percentage points by which its share of failed requests may be higher.",
                  "type": "integer",
                  "format": "int32",
                  "default": 1,
                  "minimum": 0,
                  "maximum": 100
                },
                "maxRefusalPoints": {
                  "description": "Percentage points by which its share of requests refused for a full queue may be higher.",
                  "type": "integer",
                  "format": "int32",
                  "default": 5,
                  "minimum": 0,
                  "maximum": 100
                },
                "maxFirstTokenIncreasePercent": {
                  "description": "Percentage by which its mean time to the first token may be longer.",
                  "type": "integer",
                  "format": "int32",
                  "default": 25,
                  "minimum": 0,
                  "maximum": 10000
                },
                "maxTokenTimeIncreasePercent": {
                  "description": "Percentage by which its mean time per output token may be longer.",
                  "type": "integer",
                  "format": "int32",
                  "default": 25,
                  "minimum": 0,
                  "maximum": 10000
                },
                "maxLengthChangePercent": {
                  "description": "Percentage by which its answers may be longer or shorter, in tokens.",
                  "type": "integer",
                  "format": "int32",
                  "default": 50,
                  "minimum": 0,
                  "maximum": 10000
                }
              },
              "required": [
                "minRequests",
                "maxErrorPoints",
                "maxRefusalPoints",
                "maxFirstTokenIncreasePercent",
                "maxTokenTimeIncreasePercent",
                "maxLengthChangePercent"
              ]
            }
          },
          "required": [
            "steps",
            "replicas"
          ]
        },
        "disaggregation": {
          "description": "Prefill and decode apart: prefill pods compute long prompts and hand the KV blocks to the decode pods, which serve clients (deploy/docs/disaggregation.md). Decode pods are those of replicas. Default: none; every pod computes its own prompts.",
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "prefill": {
              "description": "The prefill pods.",
              "type": "object",
              "default": {},
              "additionalProperties": false,
              "properties": {
                "replicas": {
                  "description": "Number of prefill pods. With 0 decode pods compute all prompts.",
                  "type": "integer",
                  "format": "int32",
                  "default": 1,
                  "minimum": 0,
                  "maximum": 1000
                },
                "resources": {
                  "description": "Requests and limits of prefill pods where they differ from those of decode pods, by name. Devices are the same.",
                  "type": "object",
                  "additionalProperties": false,
                  "properties": {
                    "requests": {
                      "description": "Resources that the scheduler reserves, by name.",
                      "type": "object",
                      "maxProperties": 16,
                      "additionalProperties": {
                        "description": "A quantity such as 4 or 64Gi.",
                        "maxLength": 32,
                        "pattern": "^[0-9]+(\\.[0-9]+)?(m|k|M|G|T|P|Ki|Mi|Gi|Ti|Pi)?$",
                        "type": [
                          "integer",
                          "string"
                        ]
                      }
                    },
                    "limits": {
                      "description": "Max resources of the container, by name.",
                      "type": "object",
                      "maxProperties": 16,
                      "additionalProperties": {
                        "description": "A quantity such as 4 or 64Gi.",
                        "maxLength": 32,
                        "pattern": "^[0-9]+(\\.[0-9]+)?(m|k|M|G|T|P|Ki|Mi|Gi|Ti|Pi)?$",
                        "type": [
                          "integer",
                          "string"
                        ]
                      }
                    }
                  },
                  "required": []
                }
              },
              "required": [
                "replicas"
              ]
            },
            "minPromptTokens": {
              "description": "A prompt goes to a prefill pod where at least so many of its tokens are not in the prefix cache of the decode pod.",
              "type": "integer",
              "format": "int32",
              "default": 512,
              "minimum": 1,
              "maximum": 10000000
            }
          },
          "required": [
            "prefill",
            "minPromptTokens"
          ]
        }
      },
      "required": [
        "model",
        "accelerator",
        "parallelism",
        "engine",
        "sharedMemory",
        "replicas",
        "scaling",
        "budget",
        "stop",
        "routing",
        "tls",
        "auth",
        "accounting",
        "compatibility",
        "rollout"
      ]
    },
    "status": {
      "description": "Observed state.",
      "type": "object",
      "title": "LlmServiceStatus",
      "additionalProperties": false,
      "properties": {
        "observedGeneration": {
          "description": "Generation of the spec that this status reflects.",
          "type": "integer",
          "format": "int64",
          "minimum": 0
        },
        "conditions": {
          "description": "Condition types: ModelResolved, Fits, Scheduled, Loaded, Serving, Routed, StreamingVerified, Ready, Reconciling, Stalled; with scaling by load also ScalingActive, with a budget also WithinBudget; with adapters also AdaptersLoaded; with a canary also CanaryPassing; with a class also ClassResolved.",
          "type": "array",
          "maxItems": 32,
          "items": {
            "description": "One condition.",
            "type": "object",
            "title": "Condition",
            "additionalProperties": false,
            "properties": {
              "type": {
                "description": "Type of the condition.",
                "type": "string",
                "maxLength": 64
              },
              "status": {
                "description": "Whether the condition holds.",
                "type": "string",
                "enum": [
                  "True",
                  "False",
                  "Unknown"
                ]
              },
              "reason": {
                "description": "Cause, as one stable word.",
                "type": "string",
                "minLength": 1,
                "maxLength": 128
              },
              "message": {
                "description": "Cause and remedy, for a person.",
                "type": "string",
                "maxLength": 32768
              },
              "observedGeneration": {
                "description": "Generation of the spec that the condition reflects.",
                "type": "integer",
                "format": "int64",
                "minimum": 0
              },
              "lastTransitionTime": {
                "description": "When status last changed.",
                "type": "string",
                "format": "date-time",
                "maxLength": 64
              }
            },
            "required": [
              "type",
              "status",
              "reason",
              "message",
              "lastTransitionTime"
            ]
          }
        },
        "class": {
          "description": "What the service took from its class, and keeps until its own spec or the annotation llmservice.dev/refresh-class changes; absent without spec.className.",
          "type": "object",
          "title": "ClassStatus",
          "additionalProperties": false,
          "properties": {
            "name": {
              "description": "Name of the LlmServiceClass.",
              "type": "string",
              "maxLength": 63
            },
            "generation": {
              "description": "Generation of the class that the values are of.",
              "type": "integer",
              "format": "int64",
              "minimum": 0
            },
            "specHash": {
              "description": "Hash of what pods depend on in the service's own spec, for which the values were taken.",
              "type": "string",
              "maxLength": 64
            },
            "admittedHash": {
              "description": "Hash of the service's own spec, but for replicas and stop, that the bounds admitted.",
              "type": "string",
              "maxLength": 64
            },
            "refresh": {
              "description": "Value of the annotation llmservice.dev/refresh-class at that time; empty when absent.",
              "type": "string",
              "maxLength": 256
            },
            "maxReplicas": {
              "description": "Max pods that the class last allowed, which hold where it is gone or cannot be read; absent where it had no bound.",
              "type": "integer",
              "format": "int32",
              "minimum": 1
            },
            "values": {
              "description": "Values of the class that apply, by the names of the fields of spec.",
              "type": "object",
              "additionalProperties": true
            }
          },
          "required": [
            "name",
            "generation",
            "specHash",
            "admittedHash",
            "refresh",
            "values"
          ]
        },
        "canary": {
          "description": "The revision that is tried beside the stable one; absent when none is.",
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "revision": {
              "description": "Its pod template, as the annotation llmservice.dev/revision of its pods names it.",
              "type": "string",
              "maxLength": 64
            },
            "phase": {
              "description": "starting: its pods do not answer yet. step: it gets what the step says. promoting: it becomes the stable revision. leaving: it gets no new requests and ends.",
              "type": "string",
              "enum": [
                "starting",
                "step",
                "promoting",
                "leaving"
              ]
            },
            "step": {
              "description": "Number of the step, from 1; 0 before the first.",
              "type": "integer",
              "format": "int32",
              "minimum": 0
            },
            "steps": {
              "description": "Number of steps.",
              "type": "integer",
              "format": "int32",
              "minimum": 0
            },
            "weight": {
              "description": "Percentage of the requests that it answers.",
              "type": "integer",
              "format": "int32",
              "minimum": 0,
              "maximum": 100
            },
            "mirrorPercent": {
              "description": "Percentage of the requests that it gets as copies.",
              "type": "integer",
              "format": "int32",
              "minimum": 0,
              "maximum": 100
            },
            "since": {
              "description": "When the phase, or the step, began.",
              "type": "string",
              "format": "date-time",
              "maxLength": 64
            },
            "stableHash": {
              "description": "Label pod-template-hash of the stable pods, by which the Service selects them meanwhile.",
              "type": "string",
              "maxLength": 63
            }
          },
          "required": [
            "revision",
            "phase",
            "step",
            "steps",
            "weight",
            "mirrorPercent",
            "since"
          ]
        },
        "streamCheck": {
          "description": "The route that StreamingVerified reports on; absent until one is checked.",
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "route": {
              "description": "Hash of the inputs of the route.",
              "type": "string",
              "maxLength": 64
            }
          },
          "required": [
            "route"
          ]
        },
        "certificateAuthorities": {
          "description": "Content of ca.crt in the ConfigMap of tls.caConfigMapRef, for the activator, which may not read ConfigMaps; absent if the service does not sleep.",
          "type": "string",
          "maxLength": 65536
        },
        "url": {
          "description": "URL of the service.",
          "type": "string",
          "maxLength": 1024
        },
        "model": {
          "description": "Served model name.",
          "type": "string",
          "maxLength": 253
        },
        "replicas": {
          "description": "Number of pods.",
          "type": "integer",
          "format": "int32",
          "minimum": 0
        },
        "readyReplicas": {
          "description": "Number of pods that serve.",
          "type": "integer",
          "format": "int32",
          "minimum": 0
        },
        "prefill": {
          "description": "Prefill pods, where spec.disaggregation asks for them.",
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "replicas": {
              "description": "Number of prefill pods.",
              "type": "integer",
              "format": "int32",
              "minimum": 0
            },
            "ready": {
              "description": "Number of prefill pods that take prompts.",
              "type": "integer",
              "format": "int32",
              "minimum": 0
            }
          },
          "required": [
            "replicas",
            "ready"
          ]
        },
        "selector": {
          "description": "Label selector of the pods, for autoscalers.",
          "type": "string",
          "maxLength": 1024
        },
        "loading": {
          "description": "Progress of the pod that loads; absent when none does.",
          "type": "object",
          "title": "LoadingStatus",
          "additionalProperties": false,
          "properties": {
            "phase": {
              "description": "pull: from S3 to the node; load: into memory; warmup: warm-up steps before the first request.",
              "type": "string",
              "enum": [
                "pull",
                "load",
                "warmup"
              ]
            },
            "bytesDone": {
              "description": "Bytes done.",
              "type": "integer",
              "format": "int64",
              "minimum": 0
            },
            "bytesTotal": {
              "description": "Total bytes.",
              "type": "integer",
              "format": "int64",
              "minimum": 0
            },
            "bytesPerSecond": {
              "description": "Bytes per second over the last seconds.",
              "type": "integer",
              "format": "int64",
              "minimum": 0
            },
            "etaSeconds": {
              "description": "Seconds left at that rate.",
              "type": "integer",
              "format": "int64",
              "minimum": 0
            },
            "shapesDone": {
              "description": "Warm-up shapes that have run.",
              "type": "integer",
              "format": "int32",
              "minimum": 0
            },
            "shapesTotal": {
              "description": "Total warm-up shapes.",
              "type": "integer",
              "format": "int32",
              "minimum": 0
            }
          },
          "required": [
            "phase",
            "bytesDone",
            "bytesTotal"
          ]
        },
        "lastLoad": {
          "description": "Startup time of the newest ready pod.",
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "pod": {
              "description": "Name of the pod.",
              "type": "string",
              "maxLength": 253
            },
            "seconds": {
              "description": "Seconds from its creation until it was ready.",
              "type": "integer",
              "format": "int32",
              "minimum": 0
            }
          },
          "required": [
            "pod",
            "seconds"
          ]
        },
        "activeSchedules": {
          "description": "Active schedules, including those whose pods start ahead of time.",
          "type": "array",
          "maxItems": 16,
          "items": {
            "description": "One schedule.",
            "type": "object",
            "additionalProperties": false,
            "properties": {
              "name": {
                "description": "Its name in scaling.schedules.",
                "type": "string",
                "maxLength": 63
              },
              "until": {
                "description": "When it ends.",
                "type": "string",
                "format": "date-time",
                "maxLength": 64
              }
            },
            "required": [
              "name",
              "until"
            ]
          }
        },
        "budget": {
          "description": "Device use in the current month.",
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "monthStart": {
              "description": "Start of the month that is counted.",
              "type": "string",
              "format": "date-time",
              "maxLength": 64
            },
            "deviceSeconds": {
              "description": "Device seconds from monthStart to updatedAt.",
              "type": "integer",
              "format": "int64",
              "minimum": 0
            },
            "devicesHeld": {
              "description": "Devices that pods held at updatedAt.",
              "type": "integer",
              "format": "int32",
              "minimum": 0
            },
            "updatedAt": {
              "description": "End of the counted time; updated every five minutes while devices are held.",
              "type": "string",
              "format": "date-time",
              "maxLength": 64
            }
          },
          "required": [
            "monthStart",
            "deviceSeconds",
            "devicesHeld",
            "updatedAt"
          ]
        },
        "lastFailure": {
          "description": "Last failure, kept until the service works again.",
          "type": "object",
          "title": "LastFailure",
          "additionalProperties": false,
          "properties": {
            "reason": {
              "description": "Stable name of the failure.",
              "type": "string",
              "maxLength": 128
            },
            "message": {
              "description": "What happened.",
              "type": "string",
              "maxLength": 32768
            },
            "remedy": {
              "description": "What to do about it.",
              "type": "string",
              "maxLength": 1024
            },
            "terminal": {
              "description": "Whether the operator stops retrying until something changes.",
              "type": "boolean"
            },
            "at": {
              "description": "When it happened.",
              "type": "string",
              "format": "date-time",
              "maxLength": 64
            },
            "pod": {
              "description": "Pod that failed; absent when no pod was involved.",
              "type": "string",
              "maxLength": 253
            },
            "generation": {
              "description": "Generation of the spec that failed.",
              "type": "integer",
              "format": "int64",
              "minimum": 0
            }
          },
          "required": [
            "reason",
            "message",
            "remedy",
            "terminal",
            "at"
          ]
        },
        "memoryPlan": {
          "description": "Memory plan of one device; all sizes are per device.",
          "type": "object",
          "title": "MemoryPlanStatus",
          "additionalProperties": false,
          "properties": {
            "devices": {
              "description": "Devices of one replica.",
              "type": "integer",
              "format": "int32",
              "minimum": 0
            },
            "memoryBytes": {
              "description": "Memory of the device.",
              "type": "integer",
              "format": "int64",
              "minimum": 0
            },
            "weightBytes": {
              "description": "Weights after sharding.",
              "type": "integer",
              "format": "int64",
              "minimum": 0
            },
            "stateBytes": {
              "description": "Recurrent state of maxNumSeqs sequences; 0 for models without recurrent state.",
              "type": "integer",
              "format": "int64",
              "minimum": 0
            },
            "stateBytesPerSeq": {
              "description": "Recurrent state of one sequence.",
              "type": "integer",
              "format": "int64",
              "minimum": 0
            },
            "numStateSnapshots": {
              "description": "Snapshots of a sequence's recurrent state that the prefix cache can keep.",
              "type": "integer",
              "format": "int32",
              "minimum": 0
            },
            "stateSnapshotBytes": {
              "description": "Total size of the snapshots.",
              "type": "integer",
              "format": "int64",
              "minimum": 0
            },
            "workspaceBytes": {
              "description": "Activations of one step of maxNumBatchedTokens.",
              "type": "integer",
              "format": "int64",
              "minimum": 0
            },
            "adapterBytes": {
              "description": "Room for the LoRA adapters of spec.adapters.",
              "type": "integer",
              "format": "int64",
              "minimum": 0
            },
            "kvBytesPerToken": {
              "description": "KV cache of one token.",
              "type": "integer",
              "format": "int64",
              "minimum": 0
            },
            "kvBytesPerBlock": {
              "description": "KV cache of one block of blockSize tokens.",
              "type": "integer",
              "format": "int64",
              "minimum": 0
            },
            "numBlocks": {
              "description": "Blocks of the KV cache.",
              "type": "integer",
              "format": "int64",
              "minimum": 0
            },
            "maxModelLen": {
              "description": "Max tokens of one sequence: the requested value, or the largest that fits.",
              "type": "integer",
              "format": "int32",
              "minimum": 0
            },
            "maxConcurrencyAtMaxLen": {
              "description": "Sequences of maxModelLen tokens that the KV cache holds at once.",
              "type": "integer",
              "format": "int32",
              "minimum": 0
            },
            "estimate": {
              "description": "Whether the plan is an estimate, based on the native engine, for an engine that measures for itself.",
              "type": "boolean"
            },
            "rows": {
              "description": "The plan as a table.",
              "type": "array",
              "maxItems": 32,
              "items": {
                "description": "One part of the memory.",
                "type": "object",
                "additionalProperties": false,
                "properties": {
                  "name": {
                    "description": "Name of the part.",
                    "type": "string",
                    "maxLength": 64
                  },
                  "bytes": {
                    "description": "Size of the part.",
                    "type": "integer",
                    "format": "int64",
                    "minimum": 0
                  },
                  "note": {
                    "description": "How the size is computed.",
                    "type": "string",
                    "maxLength": 1024
                  }
                },
                "required": [
                  "name",
                  "bytes",
                  "note"
                ]
              }
            }
          },
          "required": []
        }
      },
      "required": []
    }
  },
  "required": [
    "apiVersion",
    "kind",
    "metadata",
    "spec"
  ]
};
