// Generated from crds/engine-config.schema.json by `npm run generate`. Do not edit.

export const engineConfigSchema: object = {
  "$schema": "http://json-schema.org/draft-07/schema#",
  "title": "EngineConfig",
  "description": "Configuration that the operator passes to the runtime. Every field is present: defaults are applied before it is written.",
  "type": "object",
  "additionalProperties": false,
  "required": [
    "model",
    "accelerator",
    "parallelism",
    "engine",
    "auth",
    "accounting",
    "drainTimeoutSeconds",
    "noProgressTimeoutSeconds"
  ],
  "properties": {
    "model": {
      "type": "object",
      "additionalProperties": false,
      "required": [
        "uri",
        "name",
        "aliases"
      ],
      "properties": {
        "uri": {
          "type": "string",
          "description": "Folder or .gguf file, as s3://bucket/prefix/, hf://owner/name@revision, oci://registry/repository:tag, file:///path or an absolute path.",
          "maxLength": 1024
        },
        "name": {
          "type": "string",
          "description": "Served model name.",
          "minLength": 1,
          "maxLength": 253
        },
        "aliases": {
          "type": "array",
          "maxItems": 16,
          "items": {
            "type": "string",
            "minLength": 1,
            "maxLength": 253
          }
        },
        "s3": {
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "endpoint": {
              "type": "string",
              "maxLength": 1024
            },
            "region": {
              "type": "string",
              "maxLength": 64
            },
            "forcePathStyle": {
              "type": "boolean"
            }
          }
        },
        "hub": {
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "endpoint": {
              "type": "string",
              "maxLength": 1024
            }
          }
        },
        "oci": {
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "plainHttp": {
              "type": "boolean"
            },
            "mounted": {
              "type": "boolean",
              "description": "The artifact of model.uri is mounted, and not pulled. Absent: it is pulled."
            }
          }
        },
        "cache": {
          "type": "object",
          "description": "Present: the weights folder is shared with other pods. Absent: it belongs to this pod alone.",
          "additionalProperties": false,
          "required": [
            "volume",
            "maxBytes",
            "verify",
            "pins"
          ],
          "properties": {
            "volume": {
              "type": "string",
              "description": "Name of the folder outside of the pod, for messages.",
              "maxLength": 1024
            },
            "maxBytes": {
              "type": [
                "integer",
                "null"
              ],
              "minimum": 1,
              "description": "Max size; beyond it, unused checkpoints are evicted. null: the size of the disk."
            },
            "verify": {
              "enum": [
                "onPull",
                "always"
              ],
              "description": "When files are compared with their digests: after the pull, or at every start too."
            },
            "pins": {
              "type": "object",
              "description": "Identity of the checkpoints when the revision was planned; null: unknown.",
              "additionalProperties": false,
              "required": [
                "model",
                "head"
              ],
              "properties": {
                "model": {
                  "type": [
                    "string",
                    "null"
                  ],
                  "pattern": "^[0-9a-f]{16}$"
                },
                "head": {
                  "type": [
                    "string",
                    "null"
                  ],
                  "pattern": "^[0-9a-f]{16}$"
                }
              }
            }
          }
        }
      }
    },
    "accelerator": {
      "type": "object",
      "additionalProperties": false,
      "required": [
        "kind",
        "memoryBytesPerDevice"
      ],
      "properties": {
        "kind": {
          "enum": [
            "cpu",
            "cuda",
            "hip"
          ],
          "description": "Backend of the engine."
        },
        "memoryBytesPerDevice": {
          "type": [
            "integer",
            "null"
          ],
          "minimum": 1,
          "description": "Memory of one device; on the CPU, the memory that the engine plans with. null: the engine measures it."
        }
      }
    },
    "parallelism": {
      "type": "object",
      "additionalProperties": false,
      "required": [
        "tensor"
      ],
      "properties": {
        "tensor": {
          "type": "integer",
          "minimum": 1,
          "maximum": 64
        },
        "pipeline": {
          "type": "integer",
          "description": "Stages, each of tensor ranks; absent: 1.",
          "minimum": 1,
          "maximum": 64
        }
      }
    },
    "engine": {
      "type": "object",
      "additionalProperties": false,
      "required": [
        "maxModelLen",
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
        "collectives",
        "warmup",
        "thinkingDefault",
        "samplingDefaults"
      ],
      "properties": {
        "maxModelLen": {
          "type": [
            "integer",
            "null"
          ],
          "minimum": 1,
          "description": "Max tokens of prompt and output together; null: the largest that fits."
        },
        "memoryUtilizationPercent": {
          "type": "integer",
          "minimum": 1,
          "maximum": 100
        },
        "maxNumSeqs": {
          "type": "integer",
          "minimum": 1,
          "maximum": 1024
        },
        "maxNumBatchedTokens": {
          "type": "integer",
          "minimum": 65,
          "maximum": 1048576,
          "description": "At least maxNumSeqs + 64; with speculative decoding at least maxNumSeqs x (1 + speculative.tokens) + 64."
        },
        "blockSize": {
          "enum": [
            16,
            32,
            64,
            128
          ],
          "description": "Tokens per KV block."
        },
        "prefixCaching": {
          "type": "boolean",
          "description": "Whether a prompt may reuse the cached prefix that it shares with an earlier prompt."
        },
        "dtype": {
          "enum": [
            "auto",
            "bfloat16",
            "float32"
          ],
          "description": "Data type of the KV cache and of unquantized weights in memory; auto: bfloat16. F16 matrices stay F16 unless it is float32."
        },
        "exactness": {
          "enum": [
            "auto",
            "float32"
          ],
          "description": "Data type of activations where they multiply a matrix on the CPU; auto: BF16 where the machine has AVX-512 BF16, but for F16 matrices; 16 bits in fixed point on AVX2 alone, for Q4_K and Q6_K; otherwise float32."
        },
        "kvCacheDtype": {
          "enum": [
            "auto",
            "fp8"
          ],
          "description": "Data type of the KV cache; auto: dtype. fp8 is e4m3 with one scale per token and head."
        },
        "quantization": {
          "enum": [
            "none",
            "fp8",
            "int8"
          ],
          "description": "Quantization of unquantized matrices at load."
        },
        "speculative": {
          "type": "object",
          "additionalProperties": false,
          "required": [
            "method",
            "tokens"
          ],
          "description": "Speculative decoding: several draft tokens are verified in one step. Answers do not depend on it.",
          "properties": {
            "method": {
              "enum": [
                "none",
                "ngram",
                "mtp",
                "eagle3",
                "draft_model"
              ],
              "description": "Source of draft tokens. ngram: the text itself; mtp: the checkpoint's layer for multi-token prediction; eagle3: an EAGLE-3 draft model; draft_model: a smaller model with the same tokenizer."
            },
            "tokens": {
              "type": "integer",
              "minimum": 1,
              "maximum": 16,
              "description": "Max draft tokens per sequence and step."
            },
            "uri": {
              "type": "string",
              "minLength": 1,
              "description": "For method mtp: another release of the model, whose layer drafts where the checkpoint has none. For methods eagle3 and draft_model: the draft model."
            }
          }
        },
        "collectives": {
          "enum": [
            "auto",
            "own",
            "library"
          ],
          "description": "Implementation of all-reduce between GPU ranks. own: the engine's, in rank order; library: NCCL or RCCL; auto: own where devices can access each other's memory, otherwise library."
        },
        "selfCheck": {
          "type": "boolean",
          "description": "Whether the loaded engine is compared with a reference before it is ready; absent: it is."
        },
        "warmup": {
          "type": "object",
          "additionalProperties": false,
          "required": [
            "preset",
            "shapes",
            "timeLimitSeconds"
          ],
          "description": "Warm-up steps that the engine runs before it is ready. Answers do not depend on it.",
          "properties": {
            "preset": {
              "enum": [
                "auto",
                "short",
                "long",
                "all",
                "none"
              ],
              "description": "Shapes to warm up. auto: contexts up to 8,192 tokens on GPUs, none on CPUs."
            },
            "shapes": {
              "type": "array",
              "maxItems": 32,
              "description": "PROMPT:MAX: tokens of the prompt, and of prompt and output together.",
              "items": {
                "type": "string",
                "pattern": "^[1-9][0-9]{0,7}:[1-9][0-9]{0,7}$"
              }
            },
            "timeLimitSeconds": {
              "type": "integer",
              "minimum": 1,
              "maximum": 3600,
              "description": "Seconds after which no further shape starts."
            }
          }
        },
        "toolCallParser": {
          "type": "string",
          "maxLength": 64,
          "description": "How the model writes calls of tools, by vLLM's name; absent: as the chat template writes them."
        },
        "toolsWithoutTemplate": {
          "enum": [
            "describe",
            "refuse"
          ],
          "description": "What requests with tools get if the chat template shows none; absent: describe, in the system message."
        },
        "reasoningParser": {
          "type": "string",
          "maxLength": 64,
          "description": "What stands around the model's reasoning, by vLLM's name; absent: <think> where the vocabulary has it."
        },
        "classifierFromToken": {
          "type": "array",
          "minItems": 2,
          "maxItems": 16,
          "uniqueItems": true,
          "description": "Tokens whose logits behind a prompt are those of labels, as vLLM's classifier_from_token; absent: the checkpoint's.",
          "items": {
            "type": "string",
            "minLength": 1,
            "maxLength": 64
          }
        },
        "thinkingDefault": {
          "type": [
            "boolean",
            "null"
          ],
          "description": "Whether the model thinks about requests that do not say; null: as the chat template has it."
        },
        "samplingDefaults": {
          "type": "object",
          "additionalProperties": false,
          "description": "Sampling of requests that do not set it, by whether the model thinks; absent fields: the checkpoint's.",
          "properties": {
            "thinking": {
              "type": "object",
              "additionalProperties": false,
              "properties": {
                "temperature": {
                  "type": "number",
                  "minimum": 0,
                  "maximum": 2
                },
                "topP": {
                  "type": "number",
                  "minimum": 0.000001,
                  "maximum": 1
                },
                "topK": {
                  "type": "integer",
                  "minimum": -1,
                  "maximum": 2147483647
                },
                "minP": {
                  "type": "number",
                  "minimum": 0,
                  "maximum": 1
                },
                "presencePenalty": {
                  "type": "number",
                  "minimum": -2,
                  "maximum": 2
                },
                "frequencyPenalty": {
                  "type": "number",
                  "minimum": -2,
                  "maximum": 2
                },
                "repetitionPenalty": {
                  "type": "number",
                  "minimum": 0.000001,
                  "maximum": 2
                }
              }
            },
            "plain": {
              "type": "object",
              "additionalProperties": false,
              "properties": {
                "temperature": {
                  "type": "number",
                  "minimum": 0,
                  "maximum": 2
                },
                "topP": {
                  "type": "number",
                  "minimum": 0.000001,
                  "maximum": 1
                },
                "topK": {
                  "type": "integer",
                  "minimum": -1,
                  "maximum": 2147483647
                },
                "minP": {
                  "type": "number",
                  "minimum": 0,
                  "maximum": 1
                },
                "presencePenalty": {
                  "type": "number",
                  "minimum": -2,
                  "maximum": 2
                },
                "frequencyPenalty": {
                  "type": "number",
                  "minimum": -2,
                  "maximum": 2
                },
                "repetitionPenalty": {
                  "type": "number",
                  "minimum": 0.000001,
                  "maximum": 2
                }
              }
            }
          }
        }
      }
    },
    "auth": {
      "type": "object",
      "additionalProperties": false,
      "required": [
        "keysDir",
        "maxReplicas",
        "protectMetrics"
      ],
      "properties": {
        "keysDir": {
          "type": [
            "string",
            "null"
          ],
          "minLength": 1,
          "maxLength": 1024,
          "description": "Folder with keys.yaml or keys.json; null: requests need no key."
        },
        "maxReplicas": {
          "type": "integer",
          "minimum": 1,
          "maximum": 1000,
          "description": "Replicas that share the keys' budgets: each grants a key its budget divided by this number."
        },
        "protectMetrics": {
          "type": "boolean",
          "description": "Whether /metrics requires a key too, where there are keys."
        }
      }
    },
    "accounting": {
      "type": "object",
      "additionalProperties": false,
      "required": [
        "dir"
      ],
      "properties": {
        "dir": {
          "type": [
            "string",
            "null"
          ],
          "minLength": 1,
          "maxLength": 1024,
          "description": "Folder for the log of finished requests, one line each; null: no log."
        }
      }
    },
    "drainTimeoutSeconds": {
      "type": "integer",
      "minimum": 0,
      "maximum": 3600
    },
    "noProgressTimeoutSeconds": {
      "type": "integer",
      "minimum": 10,
      "maximum": 86400
    }
  }
};
