export interface Match<O> {
  readonly operation: O;
  readonly params: readonly string[];
}

export type Routed<O> =
  | { readonly match: Match<O>; readonly allow?: undefined }
  | { readonly match: undefined; readonly allow: string | undefined };

/** HEAD matches wherever GET does. */
export const createRouter = <O extends Routable>(
  table: readonly O[],
  base: string,
): ((method: string, path: string) => Routed<O>) => {
  const fixed = new Map<string, Methods<O>>();
  const shaped: { readonly segments: readonly string[]; readonly methods: Methods<O> }[] = [];
  for (const [path, group] of Map.groupBy(table, (operation) => operation.path)) {
    const methods: Methods<O> = new Map(group.map((operation) => [operation.method, operation]));
    const full = base + path;
    if (path.includes('{')) shaped.push({ segments: full.split('/'), methods });
    else fixed.set(full, methods);
  }

  return (method, path) => {
    const routedMethod = method === 'HEAD' ? 'GET' : method;
    const exact = fixed.get(path);
    if (exact) return choose(exact, routedMethod, noParams);
    const segments = path.split('/');
    for (const candidate of shaped) {
      const params = matchSegments(candidate.segments, segments);
      if (params) return choose(candidate.methods, routedMethod, params);
    }
    return { match: undefined, allow: undefined };
  };
};

interface Routable {
  readonly method: string;
  readonly path: string;
}

type Methods<O> = ReadonlyMap<string, O>;

const noParams: readonly string[] = [];

const choose = <O>(methods: Methods<O>, method: string, params: readonly string[]): Routed<O> => {
  const operation = methods.get(method);
  return operation ? { match: { operation, params } } : { match: undefined, allow: allowed(methods) };
};

const allowed = (methods: Methods<unknown>): string =>
  [...methods.keys()].flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).join(', ');

/** No id and no name is longer (contract, "Identifiers, keys, scopes"). */
const maxSegmentBytes = 255;

const matchSegments = (pattern: readonly string[], segments: readonly string[]): string[] | undefined => {
  if (pattern.length !== segments.length) return undefined;
  const params: string[] = [];
  for (const [at, expected] of pattern.entries()) {
    const segment = segments[at]!;
    if (expected.startsWith('{')) {
      if (segment === '' || Buffer.byteLength(segment) > maxSegmentBytes) return undefined;
      params.push(segment);
    } else if (segment !== expected) return undefined;
  }
  return params;
};
