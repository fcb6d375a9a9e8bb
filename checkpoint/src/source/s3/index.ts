// Checkpoints in S3. Apart from the rest, so that processes that never reach S3 do not load its SDK.

export { S3ByteSource } from './s3-byte-source.js';
