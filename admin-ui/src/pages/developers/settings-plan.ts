import {
  type CheckedSettings,
  keySettings,
  ownSubscriptions,
  type Present,
  subscriptionSettings,
} from './settings.ts';

type Fields = Readonly<Record<string, unknown>>;

/** One object to create, change or delete, by an operation that refuses if the object is not as it was. */
export interface Step {
  readonly id: string;
  readonly kind: 'subscription' | 'key';
  readonly action: 'new' | 'changed' | 'deleted';
  /** Of a subscription without one, its URL. */
  readonly name: string;
  /** Only the fields that differ. */
  readonly before: Fields | null;
  readonly after: Fields | null;
  /** Names of headers that the file adds: their values are not in it. */
  readonly headers: readonly string[];
  readonly removedHeaders: readonly string[];
  readonly objectId: number;
  readonly body: Fields;
}

export interface Plan {
  readonly steps: readonly Step[];
  readonly same: number;
  /** What the file does not name. It stays, unless it is to be deleted. */
  readonly unnamed: number;
}

/**
 * The difference between a file and what the company has. A key is known by its name; a subscription by its name, or else its
 * URL if no other has it, so that a subscription can be renamed. Applying a part of the plan leaves the rest as the plan of the same file.
 * @param prune whether to delete what the file does not name
 */
export const planOf = (file: CheckedSettings, present: Present, prune: boolean): Plan => {
  const subscriptions = pairs(
    file.subscriptions.map(subscriptionSettings),
    ownSubscriptions(present).map((one) => ({ id: one.id, form: subscriptionSettings(one) })),
    [({ name, url }) => textOf([name, url]), ({ name }) => name],
    ({ url }) => url,
  );
  const keys = pairs(
    file.keys.map(keySettings),
    present.keys.map((one) => ({ id: one.id, form: keySettings(one) })),
    [({ name }) => name],
  );
  const names = {
    subscription: present.subscriptions.map(({ name }) => name),
    key: present.keys.map(({ name }): string | null => name),
  };
  const steps = [
    ...keys.created.map((form) => created('key', form, names.key)),
    ...subscriptions.created.map((form) => created('subscription', form, names.subscription)),
    ...keys.changed.map((one) => changed('key', one)),
    ...subscriptions.changed.map((one) => changed('subscription', one)),
    ...(prune ? subscriptions.unnamed.map((one) => deleted('subscription', one)) : []),
    ...(prune ? keys.unnamed.map((one) => deleted('key', one)) : []),
  ];
  return {
    steps,
    same: keys.same + subscriptions.same,
    unnamed: keys.unnamed.length + subscriptions.unnamed.length,
  };
};

/** By what objects are found: those of one mark are taken for the same. Null: by nothing. */
type Mark<F> = (form: F) => string | null;

interface Form extends Fields {
  readonly name: string | null;
}

interface Stored<F> {
  readonly id: number;
  readonly form: F;
}

interface Pair<F> extends Stored<F> {
  readonly wanted: F;
}

/**
 * Each of the file gets at most one that is there: an equal one, or else by the first of the marks that finds one.
 * @param unmistakable a further mark, for one of the file and one that is there if no others are left that have it
 */
const pairs = <F extends Form>(
  wanted: readonly F[],
  stored: readonly Stored<F>[],
  marks: readonly Mark<F>[],
  unmistakable: Mark<F> = () => null,
) => {
  const free = new Set(stored);
  const open = new Set(wanted);
  const found = new Map<F, Pair<F>>();
  const match = (form: F, one: Stored<F>): void => {
    found.set(form, { ...one, wanted: form });
    free.delete(one);
    open.delete(form);
  };
  for (const mark of [textOf, ...marks]) {
    const marked = Map.groupBy(free, ({ form }) => mark(form));
    for (const form of open) {
      const by = mark(form);
      const one = by === null ? undefined : marked.get(by)?.shift();
      if (one) match(form, one);
    }
  }
  const marked = Map.groupBy(free, ({ form }) => unmistakable(form));
  for (const [by, [form, ...rivals]] of Map.groupBy(open, unmistakable)) {
    const [one, ...others] = (by !== null && marked.get(by)) || [];
    if (form && one && others.length === 0 && rivals.length === 0) match(form, one);
  }
  const inOrder = wanted.flatMap((form) => found.get(form) ?? []);
  const changedPairs = inOrder.filter(({ form, wanted: into }) => !isSame(form, into));
  return {
    created: [...open],
    changed: changedPairs,
    same: inOrder.length - changedPairs.length,
    unnamed: [...free],
  };
};

const textOf = (value: unknown): string => JSON.stringify(value);

const isSame = (a: unknown, b: unknown): boolean => textOf(a) === textOf(b);

const nameOf = ({ name, url }: Fields): string => String(name ?? url);

/** @param names of all that are there, to which that of the new one is added */
const created = (kind: Step['kind'], form: Form, names: (string | null)[]): Step => {
  const sameName = names.filter((name) => name === form.name).length;
  names.push(form.name);
  const { headerNames = [], ...fields } = form as Form & { readonly headerNames?: readonly string[] };
  return {
    ...{ id: `new ${kind} ${names.length}`, kind, action: 'new', name: nameOf(form), objectId: 0 },
    before: null,
    after: Object.fromEntries(
      Object.entries(form).filter(([, value]) => !isSame(value, []) && value !== null),
    ),
    ...{ headers: headerNames, removedHeaders: [] },
    body: { ...fields, basedOn: { sameName } },
  };
};

const changed = <F extends Form>(kind: Step['kind'], { id, form, wanted }: Pair<F>): Step => {
  const names = Object.keys(wanted).filter((name) => !isSame(wanted[name], form[name]));
  const only = (from: Fields): Fields => Object.fromEntries(names.map((name) => [name, from[name]]));
  const { headerNames: had = [] } = form as { readonly headerNames?: readonly string[] };
  const { headerNames: wants = [] } = wanted as { readonly headerNames?: readonly string[] };
  const { headerNames: _, ...fields } = only(wanted);
  return {
    ...{ id: `changed ${kind} ${id}`, kind, action: 'changed', name: nameOf(form), objectId: id },
    before: only(form),
    after: only(wanted),
    headers: wants.filter((name) => !had.includes(name)),
    // Their case does not matter.
    removedHeaders: had.filter((name) => !wants.some((one) => one.toLowerCase() === name.toLowerCase())),
    body: { ...fields, basedOn: only(form) },
  };
};

const deleted = <F extends Form>(kind: Step['kind'], { id, form }: Stored<F>): Step => ({
  ...{ id: `deleted ${kind} ${id}`, kind, action: 'deleted', name: nameOf(form), objectId: id },
  ...{ before: null, after: null, headers: [], removedHeaders: [], body: {} },
});
