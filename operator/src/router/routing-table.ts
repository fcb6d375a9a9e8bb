// The table of routes as requests look it up: by each name, and only what the client's key may see.

import type { ConfiguredKey } from '@llmservice/crds';
import leven from 'leven';
import type { ModelRoute, RouteTable } from '../domain/route-table.js';

/** So many names near to one that is unknown are said. */
const maxNear = 3;
const maxListed = 20;
/** Of a name that is asked for: those that are served are no longer. */
const maxCompared = 253;

export class RoutingTable {
  private readonly byName = new Map<string, ModelRoute>();

  constructor(readonly models: RouteTable['models']) {
    for (const route of models) {
      for (const name of [route.name, ...route.aliases])
        if (!this.byName.has(name)) this.byName.set(name, route);
    }
  }

  /** @param key null: keys are not asked for, and every model may be seen. @returns null: there is none that it may see */
  find(name: string, key: ConfiguredKey | null): ModelRoute | null {
    const route = this.byName.get(name);
    return route !== undefined && maySee(key, route) ? route : null;
  }

  /** The model, and those that the key may see and that answer instead, in their order: each once, and none of theirs. */
  inOrder(route: ModelRoute, key: ConfiguredKey | null): ModelRoute[] {
    const others = route.fallback.flatMap((name) => this.find(name, key) ?? []);
    return [...new Set([route, ...others])];
  }

  /** Each name that the key may see, with its model. */
  visible(key: ConfiguredKey | null): [string, ModelRoute][] {
    return [...this.byName].filter(([, route]) => maySee(key, route));
  }

  /** What a client that asked for an unknown model may have meant: the nearest names, or all where they are few. */
  suggestions(asked: string, key: ConfiguredKey | null): string {
    const names = this.visible(key).map(([name]) => name);
    if (names.length === 0) return 'no model is served to this key';
    const wanted = asked.slice(0, maxCompared).toLowerCase();
    const near = names
      .map((name) => ({ name, distance: leven(wanted, name.toLowerCase()) }))
      .filter(({ name, distance }) => distance <= Math.max(2, name.length / 3) || name.includes(wanted))
      .sort((one, other) => one.distance - other.distance)
      .slice(0, maxNear)
      .map(({ name }) => name);
    if (near.length > 0) return `near to it: ${near.join(', ')}`;
    if (names.length <= maxListed) return `served: ${names.join(', ')}`;
    return `GET /v1/models lists the ${String(names.length)} names that are served`;
  }
}

function maySee(key: ConfiguredKey | null, { visibleTo }: ModelRoute): boolean {
  if (key === null || visibleTo === null) return true;
  return visibleTo.includes(key.id) || (key.cacheGroup !== null && visibleTo.includes(key.cacheGroup));
}
