import type { SettingsFile } from '@causeway/proto';
import type { Answer } from '../../model/client.ts';
import type { ApiKey } from '../../model/scopes.ts';
import type { Subscription } from '../../model/subscriptions.ts';

/** What a company has now: all its subscriptions and its active keys. */
export interface Present {
  readonly subscriptions: readonly Subscription[];
  readonly keys: readonly ApiKey[];
}

/** A settings file as the server has read it. */
export type CheckedSettings = Answer<'checkSettings'>;

type InFile<Kind extends 'subscriptions' | 'keys'> = CheckedSettings[Kind][number];

/** With every field and in one order, so that equal settings are equal texts. */
export const subscriptionSettings = (one: InFile<'subscriptions'> | Subscription) => ({
  name: one.name ?? null,
  url: one.url,
  eventTypes: [...one.eventTypes].sort(),
  description: one.description ?? null,
  // It is enabled when its receiver has been verified.
  enabled: one.enabled || ('verification' in one && one.verification?.state === 'pending'),
  paused: one.paused ?? false,
  conditions: (one.conditions as Subscription['conditions'])?.map(sorted) ?? null,
  pace: one.pace ? sorted(one.pace) : null,
  headerNames: [...(one.headerNames ?? [])].sort(),
});

export const keySettings = (one: InFile<'keys'> | ApiKey) => ({
  name: one.name,
  scopes: [...one.scopes].sort(),
  note: one.note ?? null,
  expiresUtc: one.expiresUtc ? new Date(one.expiresUtc).toISOString() : null,
  networks: [...(one.networks ?? [])].sort(),
});

const sorted = <Value extends object>(value: Value): Value =>
  Object.fromEntries(Object.entries(value).sort()) as Value;

/** Those that no tool or agent manages, in the order of names, then of creation. */
export const ownSubscriptions = ({ subscriptions }: Present): readonly Subscription[] =>
  subscriptions.filter(({ managedBy }) => managedBy === null).sort(byName);

export const settingsOf = (present: Present, schema: string): SettingsFile => ({
  $schema: schema,
  version: 1,
  subscriptions: ownSubscriptions(present).map(subscriptionSettings),
  keys: [...present.keys].sort(byName).map(keySettings),
});

interface Named {
  readonly id: number;
  readonly name: string | null;
}

/** By code units: the same in every language. */
const byName = (a: Named, b: Named): number => {
  const [left, right] = [a.name ?? '', b.name ?? ''];
  if (left === right) return a.id - b.id;
  return left < right ? -1 : 1;
};
