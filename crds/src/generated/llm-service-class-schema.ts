// Generated from crds/llmserviceclasses.llmservice.dev.yaml by `npm run generate`. Do not edit.

export const llmServiceClassSchema: object = {
  "description": "Defaults and bounds of a platform for the LlmServices that name it by spec.className. It belongs to no namespace.",
  "type": "object",
  "title": "LlmServiceClass",
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
        "LlmServiceClass"
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
      "description": "What services take from it, and what they may ask for.",
      "type": "object",
      "title": "LlmServiceClassSpec",
      "additionalProperties": false,
      "properties": {
        "defaults": {
          "description": "Values that a service takes where its own spec has none, by the names of its own fields. A value that the API server fills in (an accelerator.resourceName of none, a model.cache of kind emptyDir) counts as none.",
          "type": "object",
          "title": "ClassDefaults",
          "additionalProperties": false,
          "properties": {
            "routing": {
              "description": "Access from outside the cluster.",
              "type": "object",
              "additionalProperties": false,
              "properties": {
                "hostSuffix": {
                  "description": "Domain below which services get a host: NAME.NAMESPACE.HOSTSUFFIX becomes routing.host of a service that has none and whose routing.provider is not none.",
                  "type": "string",
                  "minLength": 1,
                  "maxLength": 136
                }
              },
              "required": []
            },
            "model": {
              "description": "The checkpoint to serve, and the names to serve it under.",
              "type": "object",
              "additionalProperties": false,
              "properties": {
                "s3": {
                  "description": "Access to the bucket. Default: AWS S3 without credentials.",
                  "type": "object",
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
                    "credentialsSecretRef": {
                      "description": "Secret of the service's namespace with the keys AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY. It needs the label llmservice.dev/secret-for=s3. Default: requests are not signed.",
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
                      "description": "ConfigMap of the service's namespace whose key ca.crt holds PEM certificates to trust in addition to the system's.",
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
                "hub": {
                  "description": "Access to the hub of models of an hf:// URI. Default: huggingface.co without a token.",
                  "type": "object",
                  "additionalProperties": false,
                  "properties": {
                    "endpoint": {
                      "description": "Base URL of a server with the API of the Hugging Face Hub. It must be public, or one that the operator allows. Default: https://huggingface.co.",
                      "type": "string",
                      "maxLength": 1024
                    },
                    "tokenSecretRef": {
                      "description": "Secret of the service's namespace with the key HF_TOKEN. It needs the label llmservice.dev/secret-for=hub. Default: requests name nobody.",
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
                      "description": "ConfigMap of the service's namespace whose key ca.crt holds PEM certificates to trust in addition to the system's.",
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
                  "additionalProperties": false,
                  "properties": {
                    "credentialsSecretRef": {
                      "description": "Secret of the service's namespace of type kubernetes.io/dockerconfigjson, as kubectl create secret docker-registry makes it. It needs the label llmservice.dev/secret-for=oci. Default: requests name nobody.",
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
                      "description": "ConfigMap of the service's namespace whose key ca.crt holds PEM certificates to trust in addition to the system's.",
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
                "list": {
                  "description": "Access to the server of an https:// list of files. Default: requests name nobody.",
                  "type": "object",
                  "additionalProperties": false,
                  "properties": {
                    "tokenSecretRef": {
                      "description": "Secret of the service's namespace with the key MODEL_LIST_TOKEN, which goes to the host of the list alone, as Authorization: Bearer. It needs the label llmservice.dev/secret-for=list. Default: requests name nobody.",
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
                      "description": "ConfigMap of the service's namespace whose key ca.crt holds PEM certificates to trust in addition to the system's.",
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
                  "additionalProperties": false,
                  "properties": {
                    "kind": {
                      "description": "emptyDir: each pod pulls its own copy. hostPath: a folder of the node, for namespaces that allow hostPath, in folders that the operator is installed to allow. pvc: a PersistentVolumeClaim of the service's namespace, for namespaces with the restricted profile.",
                      "type": "string",
                      "enum": [
                        "emptyDir",
                        "hostPath",
                        "pvc"
                      ]
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
                      ]
                    },
                    "prePull": {
                      "description": "Pulls the weights before a pod starts: by a Job on each node that may serve, or by one Job into the claim.",
                      "type": "boolean"
                    }
                  },
                  "required": []
                }
              },
              "required": []
            },
            "accelerator": {
              "description": "The devices of one replica.",
              "type": "object",
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
                  "maxLength": 128
                },
                "memoryPerDevice": {
                  "description": "Memory of one device, or of one partition where the card is partitioned. On the CPU: the memory that the engine plans with. Default: on the CPU the memory limit, otherwise the profile's memory or what the engine measures.",
                  "type": "string",
                  "maxLength": 32
                }
              },
              "required": []
            },
            "engine": {
              "description": "Settings of the inference engine.",
              "type": "object",
              "additionalProperties": false,
              "properties": {
                "image": {
                  "description": "Image of the runtime, from a repository that the operator allows. Default: the image that the operator is installed with for this runtime and device type.",
                  "type": "string",
                  "minLength": 1,
                  "maxLength": 512,
                  "pattern": "^\\S+$"
                }
              },
              "required": []
            },
            "env": {
              "description": "Environment variables of the runtime container. Child processes of the server, such as the engine, receive only those that devices, collectives and loaders read (CUDA_, HIP_, HSA_, NCCL_, OMP_, LD_LIBRARY_PATH, …), and no credentials. A variable that stands for a field of this spec (MAX_MODEL_LEN, GPU_MEMORY_UTILIZATION, …; deploy/docs/from-kserve.md lists them) sets a field that is unset or at its default. If it contradicts the field, the manifest is refused.",
              "type": "array",
              "maxItems": 128,
              "items": {
                "description": "One environment variable.",
                "type": "object",
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
                        "description": "A key of a Secret of the service's namespace. The Secret needs the label llmservice.dev/secret-for=env, or =s3 for variables whose names begin with AWS_.",
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
                        "description": "A key of a ConfigMap of the service's namespace.",
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
            "resources": {
              "description": "Requests and limits of the runtime container. Default: computed from the checkpoint. The operator adds the device from accelerator.",
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
              "description": "Secrets of the service's namespace, of type kubernetes.io/dockerconfigjson, for pulling the runtime image.",
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
            "scaling": {
              "description": "Scales the number of pods by load and by schedule, and to zero when the service is idle, until the next request.",
              "type": "object",
              "additionalProperties": false,
              "properties": {
                "idleAfterSeconds": {
                  "description": "Seconds without requests after which the service scales to zero. The next request waits at the operator's activator while a pod loads. Default: the service never scales to zero.",
                  "type": "integer",
                  "format": "int32",
                  "minimum": 1,
                  "maximum": 2592000
                }
              },
              "required": []
            },
            "budget": {
              "description": "Limit on device use per calendar month. A device counts from when its pod is bound to a node until the pod is gone, whether it serves or loads. Default: no limit.",
              "type": "object",
              "additionalProperties": false,
              "properties": {
                "deviceHoursPerMonth": {
                  "description": "Max device hours, summed over devices and pods.",
                  "type": "integer",
                  "format": "int32",
                  "minimum": 1,
                  "maximum": 10000000
                }
              },
              "required": []
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
            }
          },
          "required": []
        },
        "bounds": {
          "description": "What services of the class may ask for, their own values and the defaults alike. Of a list that is absent anything is allowed, of an empty one nothing. In patterns `*` stands for any characters but the separator ('/' of images, URIs and endpoints, '.' of hosts), `**` for any at all.",
          "type": "object",
          "title": "ClassBounds",
          "additionalProperties": false,
          "properties": {
            "accelerators": {
              "description": "Profiles and extended resources, by their names; none for the CPU. A profile that is not listed is allowed by its resource. Devices that are asked for by a claim are allowed by their profile alone, a device class of the claim's own if it is listed too. Extended resources of spec.resources must be listed, and none of amd.com and nvidia.com may be there.",
              "type": "array",
              "maxItems": 64,
              "items": {
                "description": "One profile or resource.",
                "type": "string",
                "minLength": 1,
                "maxLength": 128
              }
            },
            "maxDevices": {
              "description": "Max accelerator.devices.",
              "type": "integer",
              "format": "int32",
              "minimum": 1,
              "maximum": 1024
            },
            "maxTensor": {
              "description": "Max parallelism.tensor, which without one is accelerator.devices.",
              "type": "integer",
              "format": "int32",
              "minimum": 1,
              "maximum": 1024
            },
            "maxReplicas": {
              "description": "Max replicas, scaling.maxReplicas and minReplicas of scaling and its schedules, each with the pods of canary.replicas and disaggregation.prefill.replicas beside them.",
              "type": "integer",
              "format": "int32",
              "minimum": 1,
              "maximum": 1000
            },
            "images": {
              "description": "Patterns of engine.image. One without tag and digest means the repository, whichever of it is named. The operator's own bounds of images hold too.",
              "type": "array",
              "maxItems": 32,
              "items": {
                "description": "One pattern.",
                "type": "string",
                "minLength": 1,
                "maxLength": 512
              }
            },
            "uris": {
              "description": "Patterns of the URIs of the model, its adapters, its draft or head, of administration.allowedUris, and of what requestLog, server.storedResponses and server.batches write, such as s3://models/**. With them, engine.args are refused: vLLM takes other models by these.",
              "type": "array",
              "maxItems": 32,
              "items": {
                "description": "One pattern.",
                "type": "string",
                "minLength": 1,
                "maxLength": 1024
              }
            },
            "endpoints": {
              "description": "Patterns of model.s3.endpoint and model.hub.endpoint, where a service has them. The operator's own bounds of endpoints hold too.",
              "type": "array",
              "maxItems": 32,
              "items": {
                "description": "One pattern.",
                "type": "string",
                "minLength": 1,
                "maxLength": 1024
              }
            },
            "hosts": {
              "description": "Patterns of routing.host. The operator's own bounds of hosts hold too.",
              "type": "array",
              "maxItems": 32,
              "items": {
                "description": "One pattern.",
                "type": "string",
                "minLength": 1,
                "maxLength": 253
              }
            },
            "maxDeviceHoursPerMonth": {
              "description": "Max budget.deviceHoursPerMonth. Services must then have one, with budget.action stop.",
              "type": "integer",
              "format": "int32",
              "minimum": 1,
              "maximum": 10000000
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
