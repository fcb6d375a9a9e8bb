// Generated from crds/llmgateways.llmservice.dev.yaml by `npm run generate`. Do not edit.

export const llmGatewaySchema: object = {
  "description": "Many models behind one address. The model of a request's body chooses the LlmService that answers.",
  "type": "object",
  "title": "LlmGateway",
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
        "LlmGateway"
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
      "description": "Desired state. Without any field, all models of the namespace at an address inside the cluster.",
      "type": "object",
      "title": "LlmGatewaySpec",
      "additionalProperties": false,
      "properties": {
        "models": {
          "description": "Models by the names that clients send, each with the LlmService that answers. Default: every name that the services of serviceSelector serve.",
          "type": "array",
          "minItems": 1,
          "maxItems": 256,
          "items": {
            "description": "One model.",
            "type": "object",
            "title": "GatewayModel",
            "additionalProperties": false,
            "properties": {
              "name": {
                "description": "Name that clients send. The service need not know it: it answers for its own model, or, where it has an adapter of this name, for that.",
                "type": "string",
                "minLength": 1,
                "maxLength": 253
              },
              "service": {
                "description": "LlmService of this namespace that answers.",
                "type": "string",
                "minLength": 1,
                "maxLength": 52
              },
              "aliases": {
                "description": "Further names that clients may send for it.",
                "type": "array",
                "maxItems": 16,
                "items": {
                  "description": "One further name.",
                  "type": "string",
                  "minLength": 1,
                  "maxLength": 253
                }
              },
              "fallback": {
                "description": "Models of this gateway that answer instead, in this order, where no pod of the service can be reached or it answers 503 before the first byte. Such answers have the header x-llmservice-fallback.",
                "type": "array",
                "maxItems": 8,
                "items": {
                  "description": "Name of one model.",
                  "type": "string",
                  "minLength": 1,
                  "maxLength": 253
                }
              },
              "visibleTo": {
                "description": "Ids or cacheGroups of keys that may see and use the model, and its service by the names that serviceSelector serves. Default: all keys.",
                "type": "array",
                "minItems": 1,
                "maxItems": 64,
                "items": {
                  "description": "One id or cacheGroup.",
                  "type": "string",
                  "minLength": 1,
                  "maxLength": 63
                }
              }
            },
            "required": [
              "name",
              "service"
            ]
          }
        },
        "serviceSelector": {
          "description": "LlmServices of this namespace whose models are served under their own names, aliases and adapters' names, beside models. Default: all of them without models, none with models.",
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "matchLabels": {
              "description": "Labels that the services have; an empty map selects all.",
              "type": "object",
              "maxProperties": 16,
              "additionalProperties": {
                "type": "string",
                "maxLength": 63
              }
            }
          },
          "required": [
            "matchLabels"
          ]
        },
        "routing": {
          "description": "Access from outside the cluster.",
          "type": "object",
          "default": {},
          "additionalProperties": false,
          "properties": {
            "host": {
              "description": "Host name of the route at the operator's gateway. Default: no route; the models are reachable only inside the cluster.",
              "type": "string",
              "maxLength": 253
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
            }
          },
          "required": [
            "provider"
          ]
        },
        "auth": {
          "description": "API keys, checked by the gateway.",
          "type": "object",
          "default": {},
          "additionalProperties": false,
          "properties": {
            "keysSecretRef": {
              "description": "Secret of this namespace with keys.yaml or keys.json, as of LlmServices; it needs the label llmservice.dev/secret-for=keys. Its budgets hold over all models, each router giving its part. Changes take effect without a restart. A service that has keys of its own checks the same header again. Default: no keys.",
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
            }
          },
          "required": []
        },
        "replicas": {
          "description": "Number of routers, each of which can serve all requests.",
          "type": "integer",
          "format": "int32",
          "default": 2,
          "minimum": 0,
          "maximum": 64
        },
        "maxBodyBytes": {
          "description": "Max size of a request's body; a larger one is refused with 413. The upper bound is what a router keeps for one key at once.",
          "type": "integer",
          "format": "int64",
          "default": 33554432,
          "minimum": 1024,
          "maximum": 33554432
        },
        "drainTimeoutSeconds": {
          "description": "How long answers under way may take when a router is asked to stop.",
          "type": "integer",
          "format": "int32",
          "default": 600,
          "minimum": 0,
          "maximum": 86400
        },
        "accounting": {
          "description": "Log of ended requests with the tokens of each, by which a router that is started again knows what keys used of the day.",
          "type": "object",
          "default": {},
          "additionalProperties": false,
          "properties": {
            "persistentVolumeClaimRef": {
              "description": "PersistentVolumeClaim of this namespace to write the log to; it needs access mode ReadWriteMany where routers run on several nodes, also during a rollout. Default: no log.",
              "type": "object",
              "additionalProperties": false,
              "properties": {
                "name": {
                  "description": "Name of the claim.",
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
        "nodeSelector": {
          "description": "Labels that a node must have that a router runs on.",
          "type": "object",
          "maxProperties": 32,
          "additionalProperties": {
            "description": "Value of the label.",
            "type": "string",
            "maxLength": 63
          }
        },
        "affinity": {
          "description": "Scheduling affinity of the routers, as in a pod spec. The API server checks its inner fields when the operator applies the Deployment.",
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
          "description": "Node taints that the routers tolerate.",
          "type": "array",
          "maxItems": 32,
          "items": {
            "description": "One toleration.",
            "type": "object",
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
          "description": "PriorityClass of the routers.",
          "type": "string",
          "minLength": 1,
          "maxLength": 253
        },
        "imagePullSecrets": {
          "description": "Secrets of this namespace, of type kubernetes.io/dockerconfigjson, for pulling the operator's image, which routers run.",
          "type": "array",
          "maxItems": 16,
          "items": {
            "description": "One Secret.",
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
          }
        },
        "networkPolicy": {
          "description": "NetworkPolicy of the routers. It admits only the peers in from. It requires a network plugin that enforces NetworkPolicies. Default: none; everything in the cluster can reach the routers.",
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "from": {
              "description": "Peers that may send requests, and scrape metrics: the pods of the gateway, clients inside the cluster. As in the ingress rules of a NetworkPolicy; the API server checks inner fields when the operator applies it.",
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
        }
      },
      "required": [
        "routing",
        "auth",
        "replicas",
        "maxBodyBytes",
        "drainTimeoutSeconds",
        "accounting"
      ]
    },
    "status": {
      "description": "Observed state.",
      "type": "object",
      "title": "LlmGatewayStatus",
      "additionalProperties": false,
      "properties": {
        "observedGeneration": {
          "description": "Generation of the spec that this status reflects.",
          "type": "integer",
          "format": "int64",
          "minimum": 0
        },
        "url": {
          "description": "Public URL; absent without a route.",
          "type": "string",
          "maxLength": 512
        },
        "address": {
          "description": "URL inside the cluster.",
          "type": "string",
          "maxLength": 512
        },
        "readyReplicas": {
          "description": "Routers that take requests.",
          "type": "integer",
          "format": "int32",
          "minimum": 0
        },
        "modelCount": {
          "description": "Number of models.",
          "type": "integer",
          "format": "int32",
          "minimum": 0
        },
        "models": {
          "description": "The first 256 models, with the service that answers for each.",
          "type": "array",
          "maxItems": 256,
          "items": {
            "description": "One model.",
            "type": "object",
            "title": "GatewayModelStatus",
            "additionalProperties": false,
            "properties": {
              "name": {
                "description": "Name that clients send.",
                "type": "string",
                "maxLength": 253
              },
              "service": {
                "description": "LlmService that answers.",
                "type": "string",
                "maxLength": 253
              },
              "state": {
                "description": "Ready: a pod answers. Asleep: a request wakes the service. NotReady: no pod answers. Unresolved: the model is not routed, as the condition ResolvedRefs says.",
                "type": "string",
                "enum": [
                  "Ready",
                  "Asleep",
                  "NotReady",
                  "Unresolved"
                ]
              }
            },
            "required": [
              "name",
              "service",
              "state"
            ]
          }
        },
        "conditions": {
          "description": "Condition types: Accepted (the spec can be served), ResolvedRefs (the services and models that it names are there), Programmed (all objects are applied and the route is taken), Ready (a router takes requests for a model at least).",
          "type": "array",
          "maxItems": 16,
          "items": {
            "description": "One condition.",
            "type": "object",
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
