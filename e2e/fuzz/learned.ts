import type { Json } from '../api/support/world.ts';
import type { Dice } from './dice.ts';
import type { Endpoint } from './surface.ts';

/**
 * What answers have told, to be asked with again: ids, cursors, names. A field is given what a field learned of
 * the same name had, or of one whose name it ends with: `changed_by_employee_id` takes an `employee_id`.
 */
export interface Learned {
  note(endpoint: Endpoint, body: Json): void;
  valueFor(dice: Dice, name: string, type: string | undefined): Json;
  /** An id for a path's parameter. */
  idFor(dice: Dice, endpoint: Endpoint, name: string): Json;
  /** Of the local receiver: nothing is ever sent anywhere else. */
  url(dice: Dice): string;
}

const maxEach = 200;
const usualBehaviours: readonly string[] = [
  '',
  '',
  '',
  '?status=500',
  '?status=204',
  '?status=410',
  '?status=301',
];

/** @param behaviours of the receiver, as its URLs carry them. */
export const createLearned = (receiverUrl: string, behaviours = usualBehaviours): Learned => {
  const values = new Map<string, Json[]>();
  const add = (name: string, value: Json): void => {
    const known = values.get(name) ?? [];
    if (known.length >= maxEach) known.shift();
    known.push(value);
    values.set(name, known);
  };
  const walk = (collection: string, name: string, value: Json): void => {
    if (Array.isArray(value)) for (const item of value.slice(0, 5)) walk(collection, name, item);
    else if (typeof value === 'object' && value !== null)
      for (const [key, inner] of Object.entries(value)) walk(collection, key, inner);
    else if (typeof value === 'number' && Number.isSafeInteger(value) && /id$/i.test(name))
      add(name === 'id' ? `${collection} id` : name.toLowerCase(), value);
    else if (typeof value === 'string' && /cursor$|status|code$|external_id|email|^type$/i.test(name))
      add(name.toLowerCase(), value);
  };
  /** `replays` for those that `/subscriptions/{id}/replays` makes and `/replays/{id}` reads. */
  const lastOf = (path: string): string => path.split('/').findLast((part) => !part.startsWith('{'))!;
  const collectionOf = ({ path }: Endpoint): string => lastOf(path.split('/{')[0]!);
  return {
    note: (endpoint, body) => walk(lastOf(endpoint.path), '', body),
    valueFor: (dice, name, type) => {
      const wanted = name.toLowerCase();
      for (const [known, pool] of values) {
        if (known.includes(' ') || !(wanted.endsWith(known) || known.endsWith(wanted))) continue;
        const value = dice.pick(pool);
        if (typeof value === (type === 'integer' ? 'number' : type)) return value;
      }
      return undefined;
    },
    idFor: (dice, endpoint, name) => {
      const pool = values.get(name === 'id' ? `${collectionOf(endpoint)} id` : name.toLowerCase());
      return pool ? dice.pick(pool) : 1 + dice.below(50);
    },
    url: (dice) => `${receiverUrl}/fuzz/${dice.below(20)}${dice.pick(behaviours)}`,
  };
};
