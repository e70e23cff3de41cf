import {
  type CheckedSettings,
  keySettings,
  ownSubscriptions,
  type Present,
  subscriptionSettings,
} from './settings.ts';

type Fields = Readonly<Record<string, unknown>>;

/** One object to create or change, by an operation that refuses if the object is not as it was. */
export interface Step {
  readonly id: string;
  readonly kind: 'subscription' | 'key';
  readonly action: 'new' | 'changed';
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
}

/**
 * The difference between a file and what the company has. A key is known by its name, a subscription by its name or, without
 * one, its URL. Applying a part of the plan leaves the rest as the plan of the same file. Nothing is deleted.
 */
export const planOf = (file: CheckedSettings, present: Present): Plan => {
  const subscriptions = pairs(
    file.subscriptions.map(subscriptionSettings),
    ownSubscriptions(present).map((one) => ({ id: one.id, form: subscriptionSettings(one) })),
  );
  const keys = pairs(
    file.keys.map(keySettings),
    present.keys.map((one) => ({ id: one.id, form: keySettings(one) })),
  );
  const names = {
    subscription: present.subscriptions.map(({ name }) => name),
    key: present.keys.map(({ name }): string | null => name),
  };
  return {
    steps: [
      ...keys.created.map((form) => created('key', form, names.key)),
      ...subscriptions.created.map((form) => created('subscription', form, names.subscription)),
      ...keys.changed.map((one) => changed('key', one)),
      ...subscriptions.changed.map((one) => changed('subscription', one)),
    ],
    same: keys.same + subscriptions.same,
  };
};

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

/** Each of the file gets an equal one that is there, or else one of the same name that no other gets. */
const pairs = <F extends Form>(wanted: readonly F[], stored: readonly Stored<F>[]) => {
  const free = new Set(stored);
  const found = new Map<F, Pair<F>>();
  for (const mark of [textOf, nameOf]) {
    const marked = Map.groupBy(free, ({ form }) => mark(form));
    for (const form of wanted) {
      const one = found.has(form) ? undefined : marked.get(mark(form))?.shift();
      if (!one) continue;
      found.set(form, { ...one, wanted: form });
      free.delete(one);
    }
  }
  const changed = [...found.values()].filter(({ form, wanted: into }) => !isSame(form, into));
  return { created: wanted.filter((form) => !found.has(form)), changed, same: found.size - changed.length };
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
