// The folders of one service's checkpoints in its buckets, once what is given for reaching these is known.

import type { S3Access } from '../resource/s3-access.js';
import type { CheckpointLocation } from '../domain/wanted-service.js';
import type { OpenFolders } from './judge-checkpoint.js';
import { S3Files, type Connection } from './s3-files.js';

export function openBuckets(access: S3Access, connection: Connection): OpenFolders {
  const opened: S3Files[] = [];
  return {
    at: (location: CheckpointLocation) => {
      const files = new S3Files(access, connection, location);
      opened.push(files);
      return files;
    },
    close: () => {
      for (const files of opened) files.close();
    },
  };
}
