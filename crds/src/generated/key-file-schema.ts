// Generated from crds/key-file.schema.json by `npm run generate`. Do not edit.

export const keyFileSchema: object = {
  "$schema": "http://json-schema.org/draft-07/schema#",
  "title": "KeyFile",
  "description": "an object with one field, keys: the API keys of a service",
  "type": "object",
  "additionalProperties": false,
  "required": [
    "keys"
  ],
  "properties": {
    "keys": {
      "type": "array",
      "minItems": 1,
      "maxItems": 1000,
      "description": "a list of 1 to 1000 keys; to serve without keys, remove auth.keysSecretRef",
      "items": {
        "title": "KeyEntry",
        "type": "object",
        "additionalProperties": false,
        "description": "a key: id and sha256, and what it may use",
        "required": [
          "id",
          "sha256"
        ],
        "properties": {
          "id": {
            "type": "string",
            "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$",
            "description": "a name for logs and metrics, of 1 to 63 letters, digits, '.', '_' and '-', such as team-a"
          },
          "sha256": {
            "type": [
              "string",
              "array"
            ],
            "pattern": "^[0-9A-Fa-f]{64}$",
            "minItems": 1,
            "maxItems": 2,
            "items": {
              "type": "string",
              "pattern": "^[0-9A-Fa-f]{64}$",
              "description": "the SHA-256 of a key in 64 hex digits (printf %s \"$KEY\" | sha256sum)"
            },
            "description": "the SHA-256 of the key in 64 hex digits (printf %s \"$KEY\" | sha256sum), or a list of two during a key change"
          },
          "cacheGroup": {
            "type": "string",
            "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$",
            "description": "a name of 1 to 63 letters, digits, '.', '_' and '-': keys with the same name reuse each other's cached prompts; without it, a key reuses only its own"
          },
          "priority": {
            "type": "integer",
            "minimum": -8,
            "maximum": 8,
            "default": 0,
            "description": "from -8, the most urgent, to 8: the priority of its requests, and the most urgent that they may ask for"
          },
          "weight": {
            "type": "integer",
            "minimum": 1,
            "maximum": 100,
            "default": 1,
            "description": "its share of the engine relative to other keys while requests wait, 1 to 100"
          },
          "tokensPerMinute": {
            "type": "integer",
            "minimum": 1,
            "maximum": 1000000000000,
            "description": "tokens of prompts and answers per minute, a whole number of at least 1; without it, no limit"
          },
          "tokensPerDay": {
            "type": "integer",
            "minimum": 1,
            "maximum": 1000000000000,
            "description": "tokens of prompts and answers per day (UTC), a whole number of at least 1; without it, no limit"
          },
          "concurrency": {
            "type": "integer",
            "minimum": 1,
            "maximum": 1000000,
            "description": "requests at once, a whole number of at least 1; without it, no limit"
          }
        }
      }
    }
  }
};
