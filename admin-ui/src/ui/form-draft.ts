import { useEffect, useState } from 'react';
import { kept } from './kept.ts';

/** What a `Form` shows of its draft. */
export interface FormDraft {
  readonly form: string;
  readonly isRestored: boolean;
  /** Fields that someone else changed after they were loaded, and that have a new value here too. */
  readonly conflicts: readonly Conflict[];
  readonly settle: (name: string, keep: 'stored' | 'own') => void;
  readonly discard: () => void;
}

interface Conflict {
  readonly name: string;
  readonly label: string;
  readonly stored: unknown;
  readonly own: unknown;
}

export interface Draft<Values> extends FormDraft {
  readonly values: Values;
  /** What the changes are based on. */
  readonly base: Values;
  readonly changed: readonly (keyof Values & string)[];
  readonly set: (change: Partial<Values>) => void;
  /** For the control of a field that is a text. */
  readonly bind: (name: TextsOf<Values>) => {
    readonly value: string;
    readonly onValue: (value: string) => void;
  };
}

type TextsOf<Values> = {
  [Name in keyof Values & string]: Values[Name] extends string ? Name : never;
}[keyof Values & string];

type Kept<Values> = Pick<Draft<Values>, 'base' | 'values' | 'isRestored'> & { readonly form: string };

/**
 * The values of a form, whose changes survive leaving the page, a reload and the end of the session: this tab keeps them
 * until a mutation that names the form (`meta.saves`) succeeds, or until they are discarded.
 * @param form names page and record, such as `subscriptions/12`.
 * @param stored the record as it is now. Fields without changes follow it; the others are `conflicts`.
 * @param labels names every field, for conflicts.
 * @param secret fields that are never kept.
 */
export const useDraft = <Values extends object>(
  form: string,
  stored: Values,
  labels: Readonly<Record<keyof Values, string>>,
  secret: readonly (keyof Values)[] = [],
): Draft<Values> => {
  const [state, setState] = useState(() => restore(form, stored));
  if (state.form !== form) setState(restore(form, stored));
  const names = Object.keys(stored) as (keyof Values & string)[];
  const { base, values, conflicting } = follow(state, stored, names);
  const changed = names.filter((name) => !isSame(values[name], base[name]));
  const set = (change: Partial<Values>): void =>
    setState((before) => {
      const now = follow(before, stored, names);
      return { ...before, base: now.base, values: { ...now.values, ...change } };
    });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the other values do not change for a form
  useEffect(() => {
    const written = names.filter(
      (name) => !secret.includes(name) && !isSame(state.values[name], state.base[name]),
    );
    keptDraft(form).write(
      written.length > 0
        ? JSON.stringify({
            base: only<Values>(state.base, written),
            values: only<Values>(state.values, written),
          })
        : null,
    );
  }, [state]);
  return {
    form,
    values,
    base,
    changed,
    isRestored: state.isRestored && changed.length > 0,
    conflicts: conflicting.map((name) => ({
      ...{ name, label: labels[name], stored: stored[name], own: values[name] },
    })),
    set,
    bind: (name) => ({
      value: values[name] as string,
      onValue: (value) => set({ [name]: value } as Partial<Values>),
    }),
    settle: (name, keep) => {
      const value = { [name]: stored[name as keyof Values] };
      setState({
        ...state,
        base: { ...base, ...value },
        values: keep === 'own' ? values : { ...values, ...value },
      });
    },
    discard: () => {
      forgetDraft(form);
      setState({ form, base: stored, values: stored, isRestored: false });
    },
  };
};

/** The fields that were changed, and what the changes are based on. @param fieldsOf the values as an operation takes them */
export const changeOf = <Values, Fields extends object>(
  { changed, values, base }: Draft<Values>,
  fieldsOf: (values: Values) => Fields,
): Partial<Fields> & { readonly basedOn: Partial<Fields> } => {
  const names = (changed as readonly string[]).filter((name) => name in fieldsOf(values)) as (keyof Fields)[];
  return { ...only(fieldsOf(values), names), basedOn: only(fieldsOf(base), names) };
};

const restore = <Values extends object>(form: string, stored: Values): Kept<Values> => {
  const draft = JSON.parse(keptDraft(form).read() ?? 'null') as {
    readonly base: Partial<Values>;
    readonly values: Partial<Values>;
  } | null;
  // Another release may have written other fields.
  const known = Object.keys(draft?.values ?? {}).filter((name) => name in stored) as (keyof Values)[];
  return {
    form,
    base: { ...stored, ...only<Values>(draft?.base ?? {}, known) },
    values: { ...stored, ...only<Values>(draft?.values ?? {}, known) },
    isRestored: known.length > 0,
  };
};

const follow = <Values extends object>(
  { base, values }: Kept<Values>,
  stored: Values,
  names: readonly (keyof Values & string)[],
) => {
  const moved = names.filter((name) => !isSame(base[name], stored[name]));
  const isFree = (name: keyof Values): boolean =>
    isSame(values[name], base[name]) || isSame(values[name], stored[name]);
  const followed = only<Values>(stored, moved.filter(isFree));
  return {
    base: { ...base, ...followed },
    values: { ...values, ...followed },
    conflicting: moved.filter((name) => !isFree(name)),
  };
};

const only = <Values extends object>(
  from: Partial<Values>,
  names: readonly (keyof Values)[],
): Partial<Values> => Object.fromEntries(names.map((name) => [name, from[name]])) as Partial<Values>;

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

const place = 'causeway.draft.';
let owner = '';
const placeOf = (form: string): string => `${place}${owner} ${form}`;
const keptDraft = (form: string) => kept(placeOf(form), 'sessionStorage');

/** Deletes all drafts of others. @param who company and member; null after a sign-out. */
export const keepDraftsOf = (who: string | null): void => {
  owner = who ?? '';
  try {
    for (const key of Object.keys(sessionStorage))
      if (key.startsWith(place) && (who === null || !key.startsWith(placeOf(''))))
        sessionStorage.removeItem(key);
  } catch {
    // Without storage, there are none.
  }
};

export const forgetDraft = (form: string): void => keptDraft(form).write(null);
