// Google Cloud Storage by its S3 API (https://cloud.google.com/storage/docs/interoperability): where it answers, and the region
// that its signatures name.

export const googleStorage = { endpoint: 'https://storage.googleapis.com', region: 'auto' } as const;
