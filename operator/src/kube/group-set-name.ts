/** Of the LeaderWorkerSet, and of the Service by which its pods find their leader: the service's own name is taken. */
export function groupSetName(service: string): string {
  return `${service}-group`;
}
