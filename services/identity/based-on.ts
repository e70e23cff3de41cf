import { isDeepStrictEqual } from 'node:util';
import { stateConflict } from '@causeway/proto';

type Fields = Readonly<Record<string, unknown>>;

/**
 * Of a form that says which values it showed (`basedOn`).
 * @throws Problem `state_conflict` for a field that has neither the value that the caller knew nor the new one, with what is stored
 */
export const assertUnchanged = (
  what: string,
  stored: Fields,
  changes: Fields,
  basedOn: Fields = {},
): void => {
  const changed = Object.keys(basedOn)
    .filter((name) => changes[name] !== undefined && basedOn[name] !== undefined)
    .filter((name) => ![basedOn[name], changes[name]].some((value) => isSame(value, stored[name])));
  if (changed.length > 0)
    throw stateConflict(`the ${what} was changed meanwhile`, {
      changed: Object.fromEntries(changed.map((name) => [name, stored[name]])),
    });
};

/** @throws Problem `state_conflict` if the company has other records of the name than the caller knew of */
export const assertSameName = (
  what: string,
  names: readonly (string | null)[],
  name: string | null,
  basedOn: { readonly sameName: number } | undefined,
): void => {
  const sameName = names.filter((one) => one === name).length;
  if (basedOn && sameName !== basedOn.sameName)
    throw stateConflict(`${sameName > 0 ? 'a' : 'no'} ${what} of this name exists`, { sameName });
};

/** The order of a list's values and of their parts does not matter. */
const isSame = (a: unknown, b: unknown): boolean => isDeepStrictEqual(comparable(a), comparable(b));

const comparable = (value: unknown): unknown => {
  if (!Array.isArray(value)) return value;
  return value
    .map((field) =>
      JSON.stringify(
        typeof field === 'object'
          ? Object.entries(field ?? {})
              .filter(([, part]) => part !== undefined)
              .sort()
          : field,
      ),
    )
    .sort();
};
