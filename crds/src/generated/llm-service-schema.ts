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
      "description": "What is wanted. Only model.uri is required.",
      "type": "object",
      "title": "LlmServiceSpec",
      "additionalProperties": false,
      "properties": {
        "model": {
          "description": "Which checkpoint is served, under which names.",
          "type": "object",
          "title": "ModelSpec",
          "additionalProperties": false,
          "properties": {
            "uri": {
              "description": "The checkpoint's folder (with config.json, tokenizer.json and *.safetensors, or one .gguf file), as s3://BUCKET/PREFIX/, or its file, as s3://BUCKET/PREFIX/NAME.gguf.",
              "type": "string",
              "maxLength": 1024
            },
            "name": {
              "description": "The name that clients send as \"model\". Default: metadata.name.",
              "type": "string",
              "minLength": 1,
              "maxLength": 253
            },
            "aliases": {
              "description": "Further names under which the same model answers.",
              "type": "array",
              "maxItems": 16,
              "items": {
                "description": "One more served name.",
                "type": "string",
                "minLength": 1,
                "maxLength": 253
              }
            },
            "s3": {
              "description": "How the bucket is reached. Without it, AWS S3 is used anonymously.",
              "type": "object",
              "default": {},
              "title": "S3Spec",
              "additionalProperties": false,
              "properties": {
                "endpoint": {
                  "description": "Base URL of an S3-compatible server, such as https://s3.example.org: a public one, or one that the operator allows. Default: AWS S3.",
                  "type": "string",
                  "maxLength": 1024
                },
                "region": {
                  "description": "Region that requests are signed for. Default: the environment variable AWS_REGION, else us-east-1.",
                  "type": "string",
                  "minLength": 1,
                  "maxLength": 64
                },
                "forcePathStyle": {
                  "description": "Address the bucket in the path instead of the host name, as most S3-compatible servers expect.",
                  "type": "boolean",
                  "default": true
                },
                "credentialsSecretRef": {
                  "description": "Secret of this namespace with the keys AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and with the label llmservice.dev/secret-for=s3. Default: requests are not signed.",
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
                  "description": "ConfigMap of this namespace whose key ca.crt holds the PEM certificates to trust beside the system's.",
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
            "cache": {
              "description": "Where pulled weights are kept. On a folder of the node, or on a claim, they are pulled once, and every pod that comes later, of any service, starts from them without the bucket.",
              "type": "object",
              "default": {},
              "additionalProperties": false,
              "properties": {
                "kind": {
                  "description": "emptyDir: each pod pulls its own copy. hostPath: a folder of the node; for namespaces that allow it, in folders that the operator was installed to allow. pvc: a PersistentVolumeClaim of this namespace, for namespaces of the restricted profile.",
                  "type": "string",
                  "enum": [
                    "emptyDir",
                    "hostPath",
                    "pvc"
                  ],
                  "default": "emptyDir"
                },
                "path": {
                  "description": "Folder of the node, one of those that the operator was installed to allow, such as /var/cache/llmservice. Each namespace has a folder of its own there, made where it is missing.",
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
                  "description": "Checkpoints that no pod uses make way beyond it, the one used longest ago first. Default: as much as the disk has.",
                  "type": "string",
                  "maxLength": 32
                },
                "verify": {
                  "description": "When files are compared with the digests that S3 keeps: onPull: once they are pulled, later by size and time alone; always: at every start, which reads them once more.",
                  "type": "string",
                  "enum": [
                    "onPull",
                    "always"
                  ],
                  "default": "onPull"
                },
                "prePull": {
                  "description": "Pull before a pod comes: by a Job on each node that may serve, or by one Job into the claim.",
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
            "cache"
          ]
        },
        "accelerator": {
          "description": "The devices that one replica uses.",
          "type": "object",
          "default": {},
          "title": "AcceleratorSpec",
          "additionalProperties": false,
          "properties": {
            "profile": {
              "description": "What one device is, such as mi300x-cpx-nps4 or h100-3g.40gb: its resource, memory and variables; deploy/docs/accelerators.md lists all. Default: as the other fields say.",
              "type": "string",
              "maxLength": 64,
              "pattern": "^[a-z0-9][a-z0-9.-]*$"
            },
            "resourceName": {
              "description": "Extended resource of the devices: amd.com/gpu, nvidia.com/gpu or a partition such as nvidia.com/mig-3g.40gb; none serves on the CPU, or stands for the profile's.",
              "type": "string",
              "default": "none",
              "maxLength": 128
            },
            "devices": {
              "description": "Devices of one replica. A partition (MI300X CPX, MIG) counts as a device. Of GPUs the native runtime takes 8 at the most, unless engine.collectives is library.",
              "type": "integer",
              "format": "int32",
              "default": 1,
              "minimum": 1,
              "maximum": 64
            },
            "memoryPerDevice": {
              "description": "Memory of one device; of one partition, where the card is partitioned. On the CPU: what the engine may plan with. Default: on the CPU the memory limit, else the profile's or what the engine measures.",
              "type": "string",
              "maxLength": 32
            }
          },
          "required": [
            "resourceName",
            "devices"
          ]
        },
        "parallelism": {
          "description": "How the model is split.",
          "type": "object",
          "default": {},
          "additionalProperties": false,
          "properties": {
            "tensor": {
              "description": "Tensor-parallel ranks, one for each device. Default: accelerator.devices.",
              "type": "integer",
              "format": "int32",
              "minimum": 1,
              "maximum": 64
            }
          },
          "required": []
        },
        "engine": {
          "description": "Settings of the inference engine.",
          "type": "object",
          "default": {},
          "title": "EngineSpec",
          "additionalProperties": false,
          "properties": {
            "runtime": {
              "description": "Who serves. native: our own engine. vllm: a vLLM image, with arguments made from the same fields, for models that ours lacks; deploy/docs/vllm.md tells what differs.",
              "type": "string",
              "default": "native",
              "enum": [
                "native",
                "vllm"
              ]
            },
            "image": {
              "description": "Image of the runtime, of a repository that the operator allows. Default: the one that the operator was installed with for this runtime and kind of device.",
              "type": "string",
              "minLength": 1,
              "maxLength": 512,
              "pattern": "^\\S+$"
            },
            "args": {
              "description": "Further arguments of vllm serve, after those made from this spec: of an option that is given twice, vLLM takes the last.",
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
              "description": "vLLM's parser of reasoning, such as qwen3 or deepseek_r1. Default: answers are not split.",
              "type": "string",
              "minLength": 1,
              "maxLength": 64,
              "pattern": "^[A-Za-z0-9][A-Za-z0-9_.-]*$"
            },
            "toolCallParser": {
              "description": "vLLM's parser of tool calls, such as hermes or qwen3_xml; models then choose tools by themselves. Default: no tools.",
              "type": "string",
              "minLength": 1,
              "maxLength": 64,
              "pattern": "^[A-Za-z0-9][A-Za-z0-9_.-]*$"
            },
            "maxModelLen": {
              "description": "Most tokens of prompt and output together. Default: the largest that fits, told in status.memoryPlan.maxModelLen.",
              "type": "integer",
              "format": "int32",
              "minimum": 1,
              "maximum": 16777216
            },
            "memoryUtilizationPercent": {
              "description": "Share of a device's memory that the engine may use.",
              "type": "integer",
              "format": "int32",
              "default": 85,
              "minimum": 1,
              "maximum": 100
            },
            "maxNumSeqs": {
              "description": "Most sequences that one step computes.",
              "type": "integer",
              "format": "int32",
              "default": 64,
              "minimum": 1,
              "maximum": 1024
            },
            "maxNumBatchedTokens": {
              "description": "Most tokens that one step computes; at least maxNumSeqs + 64.",
              "type": "integer",
              "format": "int32",
              "default": 2048,
              "minimum": 65,
              "maximum": 1048576
            },
            "blockSize": {
              "description": "Tokens of one block of the KV cache. At the default vLLM chooses itself.",
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
              "description": "Whether prompts may reuse the cache of what they share with earlier ones. Answers do not depend on it.",
              "type": "boolean",
              "default": true
            },
            "dtype": {
              "description": "Type of the KV cache and of unquantized weights in memory; auto is bfloat16.",
              "type": "string",
              "default": "auto",
              "enum": [
                "auto",
                "bfloat16",
                "float32"
              ]
            },
            "kvCacheDtype": {
              "description": "Type of the KV cache; auto is dtype. fp8 (e4m3, one scale per token and head) holds nearly twice the context in the same memory, at some loss of accuracy.",
              "type": "string",
              "default": "auto",
              "enum": [
                "auto",
                "fp8"
              ]
            },
            "quantization": {
              "description": "What unquantized matrices become while they load: FP8 (e4m3, one scale per 128x128 block) or INT8 (one scale per output). Tables, routers and other small matrices stay as they are.",
              "type": "string",
              "default": "none",
              "enum": [
                "none",
                "fp8",
                "int8"
              ]
            },
            "speculative": {
              "description": "Speculative decoding: the next tokens are guessed, and several are verified in one step. Answers do not depend on it, only how fast they come.",
              "type": "object",
              "default": {},
              "title": "SpeculativeSpec",
              "additionalProperties": false,
              "properties": {
                "method": {
                  "description": "Who guesses. ngram: what followed the same words earlier in the text, good where answers repeat their prompts. mtp: the checkpoint's own layer for multi-token prediction.",
                  "type": "string",
                  "default": "none",
                  "enum": [
                    "none",
                    "ngram",
                    "mtp"
                  ]
                },
                "tokens": {
                  "description": "Most guesses per sequence and step. Fewer are made where measured acceptance says that they do not pay.",
                  "type": "integer",
                  "format": "int32",
                  "default": 3,
                  "minimum": 1,
                  "maximum": 16
                },
                "uri": {
                  "description": "Of method mtp: another release of the same model, as s3://BUCKET/PREFIX/, whose layer guesses where the checkpoint has none (an NVFP4 release beside an FP8 one). Of its weight files only those with the layer are read.",
                  "type": "string",
                  "maxLength": 1024
                }
              },
              "required": [
                "method",
                "tokens"
              ]
            },
            "collectives": {
              "description": "Who adds up what the ranks of GPUs have computed. own: the engine, in rank order. library: NCCL or RCCL, which the image must have, in an order of its own: the last bits of answers may differ from run to run. auto: own where devices reach each other's memory, else library.",
              "type": "string",
              "default": "auto",
              "enum": [
                "auto",
                "own",
                "library"
              ]
            },
            "warmup": {
              "description": "Steps that the native engine runs before it is ready: the largest one, which proves that memory suffices, and those that requests will ask for again. Answers do not depend on it.",
              "type": "object",
              "default": {},
              "additionalProperties": false,
              "properties": {
                "preset": {
                  "description": "auto: contexts up to 8,192 tokens on GPUs, nothing on CPUs. short: contexts up to 1,024. long: those above 8,192. all: all of them. none: nothing but what shapes names.",
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
                  "description": "Further requests to be ready for, as PROMPT:MAX, the tokens of the prompt and of prompt and output together, such as 3000:4096; they come before those of the preset.",
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
                  "description": "Seconds after which no further shape begins; the log names those left out.",
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
            "kvCacheDtype",
            "quantization",
            "speculative",
            "collectives",
            "warmup"
          ]
        },
        "env": {
          "description": "Environment variables of the runtime container. Processes below its server, such as the engine, get of them what devices, collectives and loaders read (CUDA_, HIP_, HSA_, NCCL_, OMP_, LD_LIBRARY_PATH, …), and no credentials. Those that stand for a field of this spec (MAX_MODEL_LEN, GPU_MEMORY_UTILIZATION, …; deploy/docs/from-kserve.md lists them) fill it where it is unset or at its default; where it says something else, the manifest is refused.",
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
                "description": "Its value. Default: empty.",
                "type": "string",
                "maxLength": 8192
              },
              "valueFrom": {
                "description": "Where its value is read from.",
                "type": "object",
                "minProperties": 1,
                "maxProperties": 1,
                "additionalProperties": false,
                "properties": {
                  "secretKeyRef": {
                    "description": "A key of a Secret of this namespace with the label llmservice.dev/secret-for=env, or =s3 for variables whose names begin with AWS_.",
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
          "description": "/dev/shm of the pod, over which ranks exchange data.",
          "type": "object",
          "default": {},
          "additionalProperties": false,
          "properties": {
            "sizeLimit": {
              "description": "Its size; it counts against the memory limit. Default: what the engine needs.",
              "type": "string",
              "maxLength": 32
            }
          },
          "required": []
        },
        "resources": {
          "description": "Requests and limits of the runtime container. Default: computed from the checkpoint. The device is added from accelerator.",
          "type": "object",
          "title": "ResourcesSpec",
          "additionalProperties": false,
          "properties": {
            "requests": {
              "description": "What the scheduler reserves, by resource name.",
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
              "description": "What the container may not exceed, by resource name.",
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
          "description": "Scheduling affinity of the pods, as in a pod's spec. Its inner fields are checked when the operator applies the Deployment.",
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
          "description": "Taints of nodes that the pods accept.",
          "type": "array",
          "maxItems": 32,
          "items": {
            "description": "One toleration.",
            "type": "object",
            "title": "Toleration",
            "additionalProperties": false,
            "properties": {
              "key": {
                "description": "Key of the taint. Without it, every key.",
                "type": "string",
                "minLength": 1,
                "maxLength": 316
              },
              "operator": {
                "description": "How value is compared; Equal when not set.",
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
                "description": "Effect of the taint. Without it, every effect.",
                "type": "string",
                "enum": [
                  "NoSchedule",
                  "PreferNoSchedule",
                  "NoExecute"
                ]
              },
              "tolerationSeconds": {
                "description": "How long a NoExecute taint is accepted. Without it, for ever.",
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
        "topologySpreadConstraints": {
          "description": "How replicas spread over zones or nodes.",
          "type": "array",
          "maxItems": 16,
          "items": {
            "description": "One constraint.",
            "type": "object",
            "title": "TopologySpreadConstraint",
            "additionalProperties": false,
            "properties": {
              "maxSkew": {
                "description": "Largest difference of pods between two domains.",
                "type": "integer",
                "format": "int32",
                "minimum": 1
              },
              "minDomains": {
                "description": "Fewest domains to spread over.",
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
                "description": "What happens when a pod cannot be placed so.",
                "type": "string",
                "enum": [
                  "DoNotSchedule",
                  "ScheduleAnyway"
                ]
              },
              "nodeAffinityPolicy": {
                "description": "Whether node affinity limits the domains; Honor when not set.",
                "type": "string",
                "enum": [
                  "Honor",
                  "Ignore"
                ]
              },
              "nodeTaintsPolicy": {
                "description": "Whether taints limit the domains; Ignore when not set.",
                "type": "string",
                "enum": [
                  "Honor",
                  "Ignore"
                ]
              },
              "labelSelector": {
                "description": "Pods that are counted. Default: the pods of this service.",
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
          "description": "ServiceAccount of the pods, one that the operator allows; they get no token of it. Default: default.",
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
          "description": "Further groups of the pods' processes, by number: such as render, where the device files of the node belong to it and no device plugin gives access.",
          "type": "array",
          "maxItems": 16,
          "items": {
            "description": "Number of the group.",
            "type": "integer",
            "format": "int64",
            "minimum": 1,
            "maximum": 2147483647
          }
        },
        "podLabels": {
          "description": "Further labels of the pods, for network policies, monitors and cost reports.",
          "type": "object",
          "maxProperties": 32,
          "additionalProperties": {
            "description": "Value of the label.",
            "type": "string",
            "maxLength": 63
          }
        },
        "podAnnotations": {
          "description": "Further annotations of the pods. Those by which Prometheus finds /metrics (prometheus.io/scrape and its kin) are there unless auth.protectMetrics is set; here they can be changed.",
          "type": "object",
          "maxProperties": 32,
          "additionalProperties": {
            "description": "Value of the annotation.",
            "type": "string",
            "maxLength": 4096
          }
        },
        "replicas": {
          "description": "Copies of the service, each with its own devices. Leave it out of manifests where kubectl scale or an autoscaler sets it.",
          "type": "integer",
          "format": "int32",
          "default": 1,
          "minimum": 0,
          "maximum": 1000
        },
        "scaling": {
          "description": "How many pods there are by load and by the clock, and when a service that nobody asks anything goes without pods, until somebody does.",
          "type": "object",
          "default": {},
          "additionalProperties": false,
          "properties": {
            "minReplicas": {
              "description": "Least replicas that scaling by load leaves. Default: 1.",
              "type": "integer",
              "format": "int32",
              "minimum": 1,
              "maximum": 1000
            },
            "maxReplicas": {
              "description": "Most replicas that scaling by load makes; setting it turns scaling by load on. Default: replicas is set by hand.",
              "type": "integer",
              "format": "int32",
              "minimum": 1,
              "maximum": 1000
            },
            "metric": {
              "description": "What is held near the target, on average over the pods. concurrency: requests that run or wait. queue: requests that wait. kvUsage: percent of the KV cache in use.",
              "type": "string",
              "default": "concurrency",
              "enum": [
                "concurrency",
                "queue",
                "kvUsage"
              ]
            },
            "target": {
              "description": "The metric's value per pod that is aimed for. Default: for concurrency 70 % of engine.maxNumSeqs, for queue 4, for kvUsage 80.",
              "type": "integer",
              "format": "int32",
              "minimum": 1,
              "maximum": 1000000
            },
            "provider": {
              "description": "Who scales by load. keda: a ScaledObject. hpa: a HorizontalPodAutoscaler. operator: the operator itself, from the metrics that pods tell. auto: keda where the cluster has it and the operator knows Prometheus' address, else hpa where the cluster has custom metrics, else operator.",
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
              "description": "How long fewer replicas must have sufficed before some go.",
              "type": "integer",
              "format": "int32",
              "default": 300,
              "minimum": 0,
              "maximum": 3600
            },
            "schedules": {
              "description": "Times during which the service does not sleep and has at least so many replicas, however little it is asked.",
              "type": "array",
              "maxItems": 16,
              "items": {
                "description": "One recurring time.",
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
                    "description": "When it begins, as cron writes it: minute, hour, day of month, month, day of week, such as \"0 8 * * 1-5\". Pods are started earlier, by as long as the last load took, so that they answer by then.",
                    "type": "string",
                    "maxLength": 128,
                    "pattern": "^\\S+( +\\S+){4}$"
                  },
                  "end": {
                    "description": "When it ends, likewise.",
                    "type": "string",
                    "maxLength": 128,
                    "pattern": "^\\S+( +\\S+){4}$"
                  },
                  "minReplicas": {
                    "description": "Least replicas meanwhile.",
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
              "description": "How long nothing may have been asked before all pods go. The next request waits at the operator's activator while pods load again. Default: they never go.",
              "type": "integer",
              "format": "int32",
              "minimum": 1,
              "maximum": 2592000
            },
            "wakeTimeoutSeconds": {
              "description": "How long a request waits for a pod at the most; then it is answered 503.",
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
          "description": "What the service may take of devices in a calendar month. Devices count from when a pod has its node until it is gone, whether it serves or loads. Default: there is no limit.",
          "type": "object",
          "default": {},
          "additionalProperties": false,
          "properties": {
            "deviceHoursPerMonth": {
              "description": "Most hours of a device, summed over devices and pods.",
              "type": "integer",
              "format": "int32",
              "minimum": 1,
              "maximum": 10000000
            },
            "costPerMonth": {
              "description": "Most that those hours may cost, such as \"2500\" or \"99.50\".",
              "type": "string",
              "maxLength": 32,
              "pattern": "^([1-9][0-9]{0,9}(\\.[0-9]{1,4})?|0\\.[0-9]{0,3}[1-9][0-9]{0,3})$"
            },
            "costPerDeviceHour": {
              "description": "What one device costs an hour, such as \"2.49\".",
              "type": "string",
              "maxLength": 32,
              "pattern": "^([1-9][0-9]{0,9}(\\.[0-9]{1,4})?|0\\.[0-9]{0,3}[1-9][0-9]{0,3})$"
            },
            "currency": {
              "description": "Currency of both, for messages alone, such as EUR.",
              "type": "string",
              "minLength": 1,
              "maxLength": 16
            },
            "timeZone": {
              "description": "Time zone in which months begin.",
              "type": "string",
              "default": "UTC",
              "minLength": 1,
              "maxLength": 64
            },
            "action": {
              "description": "What happens when all is spent. stop: no pods until the next month, or until the budget is raised. warn: a condition and an event alone. Both warn when four fifths are spent.",
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
          "description": "True: no pods, whatever replicas says, until it is false again; everything else of the service is kept.",
          "type": "boolean",
          "default": false
        },
        "routing": {
          "description": "How the service is reached from outside the cluster.",
          "type": "object",
          "default": {},
          "additionalProperties": false,
          "properties": {
            "host": {
              "description": "Host name of the route at the operator's gateway. Default: no route; the service is reached inside the cluster only.",
              "type": "string",
              "maxLength": 253
            },
            "pathPrefix": {
              "description": "Path before those of the API, such as /qwen36-27b, where several services share a host; the server does not see it. Default: none.",
              "type": "string",
              "maxLength": 128
            },
            "provider": {
              "description": "What carries the route. gatewayApi: an HTTPRoute. istio: a VirtualService and a DestinationRule. none: no route, whatever the host. auto: the first of the two that the cluster knows and the operator has a gateway for.",
              "type": "string",
              "default": "auto",
              "enum": [
                "auto",
                "gatewayApi",
                "istio",
                "none"
              ]
            },
            "fallback": {
              "description": "Who answers at the public route while no pod of this service does: while it loads, after it failed, and while it is stopped. Such answers have the header x-llmservice-fallback. Default: nobody.",
              "type": "object",
              "additionalProperties": false,
              "properties": {
                "service": {
                  "description": "Another LlmService of this namespace, with the same auth.keysSecretRef as this one, or neither with any.",
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
            "provider"
          ]
        },
        "networkPolicy": {
          "description": "A NetworkPolicy for the pods: besides the operator, and the activator where the service may sleep, nobody but these may reach them. It takes a network plugin that keeps such policies. Default: none, and everybody in the cluster may.",
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "from": {
              "description": "Who may send requests: the pods of the gateway, clients inside the cluster, what scrapes metrics. As in a NetworkPolicy's ingress; inner fields are checked when the operator applies it.",
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
                    "description": "Namespaces whose pods may (meta/v1 LabelSelector).",
                    "type": "object",
                    "additionalProperties": true
                  },
                  "podSelector": {
                    "description": "Pods that may, in those namespaces, or without any in this one (meta/v1 LabelSelector).",
                    "type": "object",
                    "additionalProperties": true
                  },
                  "ipBlock": {
                    "description": "Addresses that may (networking/v1 IPBlock).",
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
          "description": "HTTPS by the pods themselves, inside the cluster.",
          "type": "object",
          "default": {},
          "additionalProperties": false,
          "properties": {
            "secretRef": {
              "description": "Secret of this namespace with tls.crt and tls.key in PEM, as type kubernetes.io/tls has them, and perhaps client-ca.crt: only clients with a certificate of its authorities are answered. It has the label llmservice.dev/secret-for=tls. A change is taken over without a restart. Default: plain HTTP.",
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
              "description": "ConfigMap of this namespace whose key ca.crt holds, in PEM, the authorities of the certificate in secretRef. By them the gateway, the activator and the operator verify the pods, which have to have the name NAME.NAMESPACE.svc. Required beside routing.host and scaling.idleAfterSeconds.",
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
              "description": "Secret of this namespace whose key keys.yaml (or keys.json) lists the API keys, as hashes, with their budgets, and that has the label llmservice.dev/secret-for=keys. A change is taken over without a restart. Default: no key is asked for.",
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
              "description": "Most replicas that there will be. Each gives a key its part: the budget divided by this.",
              "type": "integer",
              "format": "int32",
              "default": 1,
              "minimum": 1,
              "maximum": 1000
            },
            "protectMetrics": {
              "description": "Whether /metrics asks for a key too, where there are keys. Health routes never do.",
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
          "description": "The log of finished requests, with the tokens of each, for billing and audits.",
          "type": "object",
          "default": {},
          "title": "AccountingSpec",
          "additionalProperties": false,
          "properties": {
            "persistentVolumeClaimRef": {
              "description": "PersistentVolumeClaim of this namespace that the log is written to; of access mode ReadWriteMany where replicas run on several nodes. Default: no log is written.",
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
        "server": {
          "description": "What the server of each pod takes at once, and what it logs.",
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "maxBodyBytes": {
              "description": "Largest body of a request; a larger one is refused with 413. At most what activators take for services that sleep. Default: 16777216.",
              "type": "integer",
              "format": "int32",
              "minimum": 1024,
              "maximum": 33554432
            },
            "maxBodiesBytes": {
              "description": "Bodies of requests that a pod holds at once, unpacked, until their answers end; more are refused with 503 or, of a key that holds its part, 429. At least twice maxBodyBytes. A pod needs up to five times as much memory for them. Default: a 32nd of the memory limit, 64 MiB to 512 MiB.",
              "type": "integer",
              "format": "int32",
              "minimum": 1048576,
              "maximum": 2147483647
            },
            "maxConnections": {
              "description": "Connections that a pod has open at once. A new one closes the one that is idle longest; where none is, it is refused with 503, unless it asks for the health routes. Default: 4096.",
              "type": "integer",
              "format": "int32",
              "minimum": 1024,
              "maximum": 65536
            },
            "maxWaiting": {
              "description": "Answers that may wait in a pod beyond the engine.maxNumSeqs that run; a request with n counts n times. More are refused with 429, and a scaling.metric of queue does not see them. Keys leave each other a part of this room. Default: 1024.",
              "type": "integer",
              "format": "int32",
              "minimum": 0,
              "maximum": 100000
            },
            "mostUrgentPriority": {
              "description": "The lowest, and so most urgent, priority that requests may ask for in a service without keys; each key has a bound of its own. Default: 0, so that requests can only stand back.",
              "type": "integer",
              "format": "int32",
              "minimum": -8,
              "maximum": 0
            },
            "logLevel": {
              "description": "The least that is worth a line of a pod's log. Requests have theirs at info, and by them kubectl llm drain counts. Default: info.",
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
          "description": "The lines of the access log as objects in S3, at the endpoint, and with the credentials, of the checkpoint. Default: none.",
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "uri": {
              "description": "Where the objects go, as s3://BUCKET/PREFIX/; the credentials must be let write there.",
              "type": "string",
              "maxLength": 1024
            },
            "text": {
              "description": "Whether lines have prompts and answers too: what people wrote. Without it, no line does.",
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
          "description": "A port of each pod, for who may forward ports to it: what runs, ending it, flushing the cache, draining, other weights. Default: none.",
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "keysSecretRef": {
              "description": "Secret of this namespace whose key keys.yaml (or keys.json) lists the keys of administrators, as hashes, and that has the label llmservice.dev/secret-for=administration. A change is taken over without a restart.",
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
              "description": "Checkpoints that administrators may load beside model.uri: each as s3://BUCKET/PREFIX/, with all that is below it. Default: none.",
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
          "description": "How pods are replaced, and the time limits of starting and stopping.",
          "type": "object",
          "default": {},
          "additionalProperties": false,
          "properties": {
            "strategy": {
              "description": "Surge: a new pod serves before an old one goes; it waits for its devices. Drain: an old pod goes first. Auto: Surge where a node has room for one more pod, else Drain.",
              "type": "string",
              "enum": [
                "Auto",
                "Surge",
                "Drain"
              ],
              "default": "Auto"
            },
            "drainTimeoutSeconds": {
              "description": "How long running generations may finish, and answers be read, after a pod was told to stop.",
              "type": "integer",
              "format": "int32",
              "default": 120,
              "minimum": 0,
              "maximum": 3600
            },
            "noProgressTimeoutSeconds": {
              "description": "How long a load may pass without any progress before it counts as failed. A load that progresses may take as long as it needs.",
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
        "rollout"
      ]
    },
    "status": {
      "description": "What the operator observed.",
      "type": "object",
      "title": "LlmServiceStatus",
      "additionalProperties": false,
      "properties": {
        "observedGeneration": {
          "description": "Generation of the spec that this status tells about.",
          "type": "integer",
          "format": "int64",
          "minimum": 0
        },
        "conditions": {
          "description": "Answers to yes-or-no questions: ModelResolved, Fits, Scheduled, Loaded, Serving, Routed, StreamingVerified, Ready, Reconciling, Stalled; with scaling by load ScalingActive, with a budget WithinBudget.",
          "type": "array",
          "maxItems": 32,
          "items": {
            "description": "One condition.",
            "type": "object",
            "title": "Condition",
            "additionalProperties": false,
            "properties": {
              "type": {
                "description": "The question.",
                "type": "string",
                "maxLength": 64
              },
              "status": {
                "description": "The answer.",
                "type": "string",
                "enum": [
                  "True",
                  "False",
                  "Unknown"
                ]
              },
              "reason": {
                "description": "The cause in one stable word.",
                "type": "string",
                "minLength": 1,
                "maxLength": 128
              },
              "message": {
                "description": "The cause and the remedy for a person.",
                "type": "string",
                "maxLength": 32768
              },
              "observedGeneration": {
                "description": "Generation of the spec that the answer is about.",
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
        "streamCheck": {
          "description": "Which route StreamingVerified tells about; absent until one was checked.",
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "route": {
              "description": "Hash of what the route was made from.",
              "type": "string",
              "maxLength": 64
            }
          },
          "required": [
            "route"
          ]
        },
        "certificateAuthorities": {
          "description": "What ca.crt of the ConfigMap in tls.caConfigMapRef holds, for the activator, which may read no ConfigMaps; absent where the service does not sleep.",
          "type": "string",
          "maxLength": 65536
        },
        "url": {
          "description": "Where the service answers.",
          "type": "string",
          "maxLength": 1024
        },
        "model": {
          "description": "The served model's name.",
          "type": "string",
          "maxLength": 253
        },
        "replicas": {
          "description": "Pods that exist.",
          "type": "integer",
          "format": "int32",
          "minimum": 0
        },
        "readyReplicas": {
          "description": "Pods that serve.",
          "type": "integer",
          "format": "int32",
          "minimum": 0
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
              "description": "pull: from S3 to the node; load: into memory; warmup: steps before the first request.",
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
              "description": "Bytes to do in all.",
              "type": "integer",
              "format": "int64",
              "minimum": 0
            },
            "bytesPerSecond": {
              "description": "Bytes a second over the last seconds.",
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
              "description": "Of the warm-up, shapes that have run.",
              "type": "integer",
              "format": "int32",
              "minimum": 0
            },
            "shapesTotal": {
              "description": "Of the warm-up, shapes to run in all.",
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
          "description": "How long the newest pod that answers took until it did.",
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "pod": {
              "description": "Name of the pod.",
              "type": "string",
              "maxLength": 253
            },
            "seconds": {
              "description": "From its creation until it was ready.",
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
          "description": "Schedules that hold now, those included whose pods are started ahead of time.",
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
          "description": "What was taken of the budget in this month.",
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "monthStart": {
              "description": "When the month began that is counted.",
              "type": "string",
              "format": "date-time",
              "maxLength": 64
            },
            "deviceSeconds": {
              "description": "Seconds of devices taken since, up to updatedAt.",
              "type": "integer",
              "format": "int64",
              "minimum": 0
            },
            "devicesHeld": {
              "description": "Devices that pods had at updatedAt.",
              "type": "integer",
              "format": "int32",
              "minimum": 0
            },
            "updatedAt": {
              "description": "Until when it is counted; written every five minutes while devices are held.",
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
          "description": "The last failure, kept until the service works again.",
          "type": "object",
          "title": "LastFailure",
          "additionalProperties": false,
          "properties": {
            "reason": {
              "description": "Stable word for the failure.",
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
              "description": "Whether nothing more is tried until something changes.",
              "type": "boolean"
            },
            "at": {
              "description": "When it happened.",
              "type": "string",
              "format": "date-time",
              "maxLength": 64
            },
            "pod": {
              "description": "The pod that failed; absent when no pod was involved.",
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
          "description": "How the memory of one device is divided. Sizes are of one device.",
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
              "description": "Recurrent state of maxNumSeqs sequences; 0 for models without.",
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
              "description": "Copies of a sequence's recurrent state that the prefix cache can keep.",
              "type": "integer",
              "format": "int32",
              "minimum": 0
            },
            "stateSnapshotBytes": {
              "description": "All of them.",
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
              "description": "Most tokens of one sequence, as asked for or the largest that fits.",
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
              "description": "Whether this is an estimate, by what the native engine would take, for an engine that measures for itself.",
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
                    "description": "The part.",
                    "type": "string",
                    "maxLength": 64
                  },
                  "bytes": {
                    "description": "Its size.",
                    "type": "integer",
                    "format": "int64",
                    "minimum": 0
                  },
                  "note": {
                    "description": "How the size comes about.",
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
