// What a gateway's router knows of models: written by the operator into a ConfigMap, read by the router from a file. JSON
// of a fixed form, since both may be of different releases: what is missing has a meaning.

/** One model as clients name it, and the service that answers for it. */
export interface ModelRoute {
  readonly name: string;
  /** Further names that clients may send for it. */
  readonly aliases: readonly string[];
  /** Of the LlmService. */
  readonly service: string;
  /** Of its Service, such as http://demo.team.svc:80. */
  readonly url: string;
  /** Authorities, in PEM, that pods have to show a certificate of for NAME.NAMESPACE.svc; null: they speak plain HTTP. */
  readonly ca: string | null;
  /** Names that the service has itself; of any other a header says that it is meant. */
  readonly served: readonly string[];
  /** Names of models that answer instead, in this order. */
  readonly fallback: readonly string[];
  /** Ids or cache groups of keys that may see it; null: all. */
  readonly visibleTo: readonly string[] | null;
  /** Seconds since 1970, when the service was made. */
  readonly created: number;
}

export interface RouteTable {
  /** NAMESPACE/NAME of the gateway. */
  readonly gateway: string;
  readonly models: readonly ModelRoute[];
}

/** Of the ConfigMap and of the file that it is mounted as. */
export const routeTableFile = 'routes.json';

export function routeTableText(table: RouteTable): string {
  return JSON.stringify(table);
}

/** @throws Error saying what is wrong */
export function readRouteTable(text: string): RouteTable {
  const value = JSON.parse(text) as Partial<RouteTable> | null;
  if (typeof value?.gateway !== 'string' || !Array.isArray(value.models)) {
    throw new Error(`${routeTableFile} must have gateway, a text, and models, a list`);
  }
  return { gateway: value.gateway, models: value.models.map(readRoute) };
}

function readRoute(value: unknown, index: number): ModelRoute {
  const route = (value ?? {}) as Partial<ModelRoute>;
  const { name, service, url } = route;
  if (typeof name !== 'string' || typeof service !== 'string' || typeof url !== 'string') {
    throw new Error(`models[${String(index)}] must have name, service and url, which are texts`);
  }
  return {
    ...{ name, service, url },
    aliases: route.aliases ?? [],
    ca: route.ca ?? null,
    served: route.served ?? [],
    fallback: route.fallback ?? [],
    visibleTo: route.visibleTo ?? null,
    created: route.created ?? 0,
  };
}
