// Names of images as container runtimes read them, and patterns of them.

import { matchesGlob } from './globs.js';

/** A pattern without tag and digest means the repository, whichever of it is named. */
export function matchesImage(pattern: string, image: string): boolean {
  const whole = inFull(image);
  const wanted = inFull(pattern);
  return matchesGlob(wanted, repositoryOf(wanted) === wanted ? repositoryOf(whole) : whole, '/');
}

/** Without tag and digest. */
export function repositoryOf(image: string): string {
  return image.replace(/@.*$/, '').replace(/:[^/]*$/, '');
}

/** As container runtimes read a name without a registry: of Docker Hub. */
function inFull(image: string): string {
  const [first = '', ...rest] = image.split('/');
  if (rest.length > 0 && (/[.:*]/.test(first) || first === 'localhost')) return image;
  return rest.length === 0 && !/\*/.test(first) ? `docker.io/library/${image}` : withHub(image);
}

function withHub(image: string): string {
  return image.startsWith('**') ? image : `docker.io/${image}`;
}
