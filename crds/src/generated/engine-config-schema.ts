// Generated from crds/engine-config.schema.json by `npm run generate`. Do not edit.

export const engineConfigSchema: object = {
  "$schema": "http://json-schema.org/draft-07/schema#",
  "title": "EngineConfig",
  "description": "What the operator hands the runtime. Every field is present: defaults are applied before it is written.",
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
          "description": "s3://bucket/prefix/, file:///path or an absolute path, of a folder or a .gguf file.",
          "maxLength": 1024
        },
        "name": {
          "type": "string",
          "description": "The served name.",
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
        "cache": {
          "type": "object",
          "description": "The weights folder is shared with other pods of the node; absent: it is this pod's alone.",
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
              "description": "What the folder is outside of the pod, for messages.",
              "maxLength": 1024
            },
            "maxBytes": {
              "type": [
                "integer",
                "null"
              ],
              "minimum": 1,
              "description": "Checkpoints that nobody uses make way beyond it; null: as much as the disk has."
            },
            "verify": {
              "enum": [
                "onPull",
                "always"
              ],
              "description": "When files are compared with their digests: once they are pulled, or at every start too."
            },
            "pins": {
              "type": "object",
              "description": "What the checkpoints were when the revision was planned; null: not known.",
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
          "description": "Which backend the engine uses."
        },
        "memoryBytesPerDevice": {
          "type": [
            "integer",
            "null"
          ],
          "minimum": 1,
          "description": "Memory of one device (on CPU: what the engine may plan with); null: measured."
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
        "kvCacheDtype",
        "quantization",
        "speculative",
        "collectives",
        "warmup"
      ],
      "properties": {
        "maxModelLen": {
          "type": [
            "integer",
            "null"
          ],
          "minimum": 1,
          "description": "Tokens of prompt plus output; null: the largest that fits."
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
          "description": "At least maxNumSeqs + 64; with speculative decoding maxNumSeqs x (1 + speculative.tokens) + 64."
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
          "description": "Whether prompts may reuse the cache of what they share with earlier ones."
        },
        "dtype": {
          "enum": [
            "auto",
            "bfloat16",
            "float32"
          ],
          "description": "Type of the KV cache and of unquantized weights in memory; auto: bfloat16. F16 matrices stay F16 unless it is float32. Activations are float32 on the CPU."
        },
        "kvCacheDtype": {
          "enum": [
            "auto",
            "fp8"
          ],
          "description": "Type of the KV cache; auto: as dtype. fp8 is e4m3 with a scale per token and head."
        },
        "quantization": {
          "enum": [
            "none",
            "fp8",
            "int8"
          ],
          "description": "What unquantized matrices become while they load."
        },
        "speculative": {
          "type": "object",
          "additionalProperties": false,
          "required": [
            "method",
            "tokens"
          ],
          "description": "Guesses of the next tokens, verified several at once. Answers do not depend on it.",
          "properties": {
            "method": {
              "enum": [
                "none",
                "ngram",
                "mtp"
              ],
              "description": "ngram: from the text itself; mtp: by the checkpoint's layer for multi-token prediction."
            },
            "tokens": {
              "type": "integer",
              "minimum": 1,
              "maximum": 16,
              "description": "Most guesses per sequence and step."
            },
            "uri": {
              "type": "string",
              "minLength": 1,
              "description": "Of method mtp: another release of the model, whose layer drafts where the checkpoint has none."
            }
          }
        },
        "collectives": {
          "enum": [
            "auto",
            "own",
            "library"
          ],
          "description": "Who adds up for ranks on GPUs: the engine in rank order, or NCCL or RCCL; auto: own where devices reach each other's memory."
        },
        "warmup": {
          "type": "object",
          "additionalProperties": false,
          "required": [
            "preset",
            "shapes",
            "timeLimitSeconds"
          ],
          "description": "Steps that the engine runs before it is ready. Answers do not depend on it.",
          "properties": {
            "preset": {
              "enum": [
                "auto",
                "short",
                "long",
                "all",
                "none"
              ],
              "description": "auto: contexts up to 8,192 tokens on GPUs, nothing on CPUs."
            },
            "shapes": {
              "type": "array",
              "maxItems": 32,
              "description": "PROMPT:MAX, tokens of the prompt and of prompt plus output.",
              "items": {
                "type": "string",
                "pattern": "^[1-9][0-9]{0,7}:[1-9][0-9]{0,7}$"
              }
            },
            "timeLimitSeconds": {
              "type": "integer",
              "minimum": 1,
              "maximum": 3600,
              "description": "No further shape begins after so many seconds."
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
          "description": "Folder with keys.yaml or keys.json; null: no key is asked for."
        },
        "maxReplicas": {
          "type": "integer",
          "minimum": 1,
          "maximum": 1000,
          "description": "Replicas that share the keys' budgets: each gives a key the budget divided by this."
        },
        "protectMetrics": {
          "type": "boolean",
          "description": "Whether /metrics asks for a key too, where there are keys."
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
          "description": "Folder that gets a line for each finished request; null: none is written."
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
