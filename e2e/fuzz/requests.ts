import type { Json } from '../api/support/world.ts';
import type { Dice } from './dice.ts';
import type { Learned } from './learned.ts';
import type { Endpoint } from './surface.ts';
import { validValue } from './values.ts';

/** A request before it is sent; who sends it is decided elsewhere. */
export interface MadeRequest {
  readonly endpoint: Endpoint;
  readonly method: string;
  /** From the root, with the query as it goes over the wire. */
  path: string;
  readonly headers: Record<string, string>;
  body: string | Uint8Array | undefined;
  /** What was done to a request that was all right. */
  readonly changes: string[];
}

/** A request that follows the description, as far as it says. */
export const validRequest = (dice: Dice, endpoint: Endpoint, learned: Learned): MadeRequest => {
  const { method, body, query } = endpoint;
  const ids: Record<string, Json> = {};
  const path = endpoint.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    ids[name] = learned.idFor(dice, endpoint, name);
    return String(ids[name]);
  });
  const pairs = Object.entries(query)
    .filter(() => dice.oneIn(2))
    .map(([name, schema]): [string, string] => [name, String(validValue(dice, schema, name, learned))]);
  const made: MadeRequest = {
    endpoint,
    method: method === 'GET' && dice.oneIn(20) ? 'HEAD' : method,
    path: pairs.length > 0 ? `${path}?${new URLSearchParams(pairs)}` : path,
    headers: {},
    body: undefined,
    changes: [],
  };
  if (body) {
    const fields = bodyFor(dice, body, learned);
    // The description says that it must be equal where it is repeated.
    for (const [name, id] of Object.entries(ids)) if (name in fields) fields[name] = id;
    made.body = JSON.stringify(fields);
  }
  return made;
};

/** The example, or something of the schema. */
const bodyFor = (dice: Dice, { schema, example }: NonNullable<Endpoint['body']>, learned: Learned): Json => {
  if (example === undefined || !dice.oneIn(3)) return validValue(dice, schema, '', learned);
  return Object.fromEntries(
    Object.entries<Json>(example).map(([name, value]) => {
      const isUrl = typeof value === 'string' && /^https?:/.test(value);
      if (isUrl) return [name, learned.url(dice)];
      const type = typeof value === 'number' ? 'integer' : 'string';
      const known = /id$/.test(name) ? learned.valueFor(dice, name, type) : undefined;
      return [name, known ?? value];
    }),
  );
};

/** Once in a while, as it costs both sides: bodies at and over the bounds. */
export const enlarge = (dice: Dice, made: MadeRequest): MadeRequest => {
  const bytes = dice.pick([262_144, 262_145, 1_048_576, 1_048_577, 1_500_000]);
  made.changes.push(`about ${bytes} bytes`);
  const name = made.endpoint.id === 'createTestEvent' ? 'payload' : dice.pick(['text', 'payload', 'extra']);
  made.body = JSON.stringify({ type: 'lead.created', [name]: { filler: 'x'.repeat(bytes) } }).slice(0, bytes);
  return made;
};
