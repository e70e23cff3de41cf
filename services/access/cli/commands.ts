import type { OperatorLane, OperatorOperationId } from '@causeway/proto';

interface Option {
  /** The placeholder for the value in the help; absent for a switch. */
  readonly value?: string;
  readonly about: string;
  readonly required?: boolean;
  /** The field of the operation's body that it sets: its own name unless given, none if null. */
  readonly field?: string | null;
  /** @throws UsageError */
  readonly read?: (text: string, option: string) => unknown;
}

export type Values = Readonly<Record<string, string | boolean | undefined>>;

export interface Command {
  readonly words: readonly [noun: string, verb: string];
  readonly about: string;
  readonly options: Readonly<Record<string, Option>>;
  readonly usage?: string;
  readonly notes?: readonly string[];
  readonly operation: OperationId;
  /** `operator` by default. */
  readonly lane?: OperatorLane;
  /** Asked after it, with the same body; one answer results from both. */
  readonly beside?: {
    readonly operation: OperationId;
    readonly lane?: OperatorLane;
    readonly join: (answer: Body, other: Body) => Body;
  };
  /** Whose lines are written, page by page, in place of an answer. */
  readonly exports?: Readonly<Record<OperatorLane, OperationId>>;
  /** What is wrong with the options together. The service checks all else. */
  readonly problem?: (values: Values) => string | undefined;
  readonly parts?: {
    /** Undefined when everything is done. */
    readonly next: (answer: Body) => Body | undefined;
    readonly join: (before: Body, latest: Body) => Body;
  };
  readonly succeeded?: (answer: Body) => boolean;
  /** What to do next, printed below the answer. */
  readonly advice?: (answer: Body) => string | undefined;
}

export type OperationId = OperatorOperationId;
export type Body = Readonly<Record<string, unknown>>;

/** The body of the command's operation. @throws UsageError for options that make none */
export const bodyOf = ({ options, problem }: Command, values: Values): Body => {
  const wrong = problem?.(values);
  if (wrong) throw new UsageError(wrong);
  return Object.fromEntries(
    Object.entries(options).flatMap(([name, { field = name.replaceAll('-', '_'), read }]) => {
      const given = values[name];
      return given === undefined || field === null ? [] : [[field, read ? read(String(given), name) : given]];
    }),
  );
};

const wholeNumber = (text: string, option: string, orElse = ''): number => {
  const number = /^[1-9]\d*$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(number))
    throw new UsageError(`--${option} takes a positive whole number${orElse}, not "${text}"`);
  return number;
};

const limit = (text: string, option: string): number | null =>
  text === 'default' ? null : wholeNumber(text, option, ' or `default`');

const instant = (text: string, option: string): string | null => {
  if (text === 'now') return null;
  const time = Date.parse(text);
  if (Number.isNaN(time)) throw new UsageError(`--${option} takes a time in ISO 8601, not "${text}"`);
  return new Date(time).toISOString();
};

const list = (text: string): string[] => text.split(/[\s,]+/).filter(Boolean);
const wholeNumbers = (text: string, option: string): number[] =>
  list(text).map((id) => wholeNumber(id, option));

const id = { value: 'ID', read: wholeNumber } as const;
const company = { ...id, about: "the company's number", required: true, field: 'company_id' } as const;

/** Answers that no later command shows again. */
const copyNow = (): string => 'Copy it now: this is the only time it is shown.';

const resealing: Pick<Command, 'parts' | 'succeeded' | 'advice'> = {
  parts: {
    next: ({ next }) => (next === null ? undefined : { after: next }),
    join: (before, latest) => ({
      ...latest,
      checked: sum(before.checked, latest.checked),
      resealed: sum(before.resealed, latest.resealed),
      unopened: sum(before.unopened, latest.unopened),
    }),
  },
  succeeded: ({ unopened }) => unopened === 0,
  advice: ({ unopened }) =>
    unopened === 0
      ? 'No other key is needed any more.'
      : 'What could not be opened is unchanged: the key ring does not have its key.',
};

const quiet = {
  waiting: 0,
  late_seconds: 0,
  attempts_a_minute: 0,
  requests_a_minute: 0,
  refused_a_minute: 0,
  missed: 0,
};
type CompanyLoad = typeof quiet & { readonly company_id: number; readonly name?: string };

const busiest = (deliveries: Body, requests: Body): Body => {
  const rows = [deliveries, requests].flatMap(({ companies }) => companies as readonly CompanyLoad[]);
  const loads = [...Map.groupBy(rows, ({ company_id }) => company_id)].map(
    ([company_id, parts]): CompanyLoad => Object.assign({ company_id, name: '', ...quiet }, ...parts),
  );
  const work = (load: CompanyLoad): number => load.attempts_a_minute + load.requests_a_minute;
  loads.sort(
    (a, b) => b.late_seconds - a.late_seconds || b.refused_a_minute - a.refused_a_minute || work(b) - work(a),
  );
  return { companies: loads.slice(0, 20) };
};

/** Subscriptions follow by themselves within seconds; the command waits for them. */
const switching: NonNullable<Command['beside']> = {
  operation: 'switchSubscriptions',
  lane: 'operator-webhooks',
  join: (company, { subscriptions }) => ({ ...company, switched_subscriptions: subscriptions }),
};

export const commands: readonly Command[] = [
  {
    words: ['company', 'create'],
    about: 'Create a company',
    options: { name: { value: 'NAME', about: 'up to 100 characters', required: true } },
    operation: 'createCompany',
  },
  {
    words: ['company', 'list'],
    about: 'List the companies',
    options: {},
    operation: 'listCompanies',
  },
  {
    words: ['company', 'top'],
    about:
      'Show which companies wait, and which load the system: the 20 latest or busiest of the last five minutes',
    options: {},
    operation: 'listDeliveriesByCompany',
    lane: 'operator-webhooks',
    beside: { operation: 'listRequestsByCompany', join: busiest },
    advice: () => 'More about one: company status --company ID',
  },
  {
    words: ['company', 'status'],
    about: "Show why a company's webhooks are late: queues, health, oldest waiting, last errors",
    options: { company },
    notes: ['The longest queues come first, at most 50 of them.'],
    operation: 'getCompanyStatus',
    lane: 'operator-webhooks',
  },
  {
    words: ['company', 'close'],
    about: 'Close a company: its keys, sessions, subscriptions and links end at once',
    options: { company },
    notes: [
      'The data is kept for 30 days and then deleted; until then, `company open` takes it back. Events and deliveries go',
      'with their days (RETENTION_DAYS). Requests that are under way end as usual. You may repeat it.',
    ],
    operation: 'closeCompany',
    beside: switching,
    advice: () => 'No gateway accepts its keys any more. To take it back: company open --company ID',
  },
  {
    words: ['company', 'open'],
    about: 'Open a company that was closed at most 30 days ago',
    options: { company },
    notes: [
      'Keys, subscriptions and links are as they were. Members sign in again. Held deliveries wait to be released.',
    ],
    operation: 'openCompany',
    beside: switching,
  },
  {
    words: ['company', 'export'],
    about: 'Write the records, events and settings of a company, one JSON object a line',
    options: {
      company,
      out: { value: 'FILE', about: 'write into this file instead of standard output', field: null },
    },
    notes: [
      'Each line is as it was when its page was read; what is written meanwhile may be there or not. The last line is',
      '{"type":"end"}: without it, run it again. No password, key value or secret is in it. The audit log names the export.',
    ],
    operation: 'exportCompany',
    exports: {
      operator: 'exportCompany',
      'operator-webhooks': 'exportSubscriptions',
      'operator-crm': 'exportRecords',
    },
  },
  {
    words: ['key', 'create'],
    about: 'Create an API key; its value is shown once',
    options: {
      company,
      name: { value: 'NAME', about: 'what the key is for, up to 100 characters', required: true },
      scopes: { value: 'A,B', about: 'what it may do, separated by commas', required: true, read: list },
    },
    notes: [
      'Scopes: integrations:read, integrations:write, events:read, webhooks:write, admin. None implies another.',
    ],
    operation: 'createKey',
    advice: copyNow,
  },
  {
    words: ['key', 'list'],
    about: 'List API keys; never their values',
    options: { company: { ...company, about: 'only the keys of this company', required: false } },
    operation: 'listKeys',
  },
  {
    words: ['key', 'revoke'],
    about: 'Revoke an API key; when this returns, no gateway accepts it',
    options: { id: { ...id, about: "the key's number, as `key list` shows it", required: true } },
    notes: ['A revoked key cannot be restored. Revoking it again does no harm.'],
    operation: 'revokeKey',
    advice: () => 'No gateway accepts it any more.',
  },
  {
    words: ['limits', 'set'],
    about: 'Set how many requests a minute a company or a key may make',
    options: {
      company: {
        ...company,
        about: 'for all keys of this company that have no limits of their own',
        required: false,
      },
      key: { ...id, about: 'for this key alone', field: 'id' },
      read: { value: 'N', about: 'reading requests a minute, or `default`', read: limit },
      write: { value: 'N', about: 'writing requests a minute, or `default`', read: limit },
      admin: { value: 'N', about: 'administrative requests a minute, or `default`', read: limit },
      lookup: { value: 'N', about: 'lookups a minute, apart from other reads, or `default`', read: limit },
      until: {
        value: 'T',
        about: 'only until then, for an import: 2026-01-15T18:00Z; `now` ends it',
        read: instant,
      },
    },
    usage: '(--company ID | --key ID) [--read N] [--write N] … [--until T]',
    notes: [
      'Limits that are not named stay as they are; `default` resets one to the configured limit.',
      'All keys of a company together get at most RATE_LIMIT_COMPANY_FACTOR times its limit;',
      'to give one key more than that, raise the limit of its company too.',
    ],
    operation: 'setLimits',
    problem: ({ company, key, read, write, admin, lookup, until }) => {
      if ((company === undefined) === (key === undefined)) return 'either --company or --key is required';
      return until === 'now' || [read, write, admin, lookup].some((text) => text !== undefined)
        ? undefined
        : 'at least one of --read, --write, --admin and --lookup is required';
    },
  },
  {
    words: ['person', 'erase'],
    about: 'Erase a lead or client: the record, and the payloads of its events and deliveries',
    options: { company, id: { ...id, about: 'the client_id', required: true, field: 'client_id' } },
    notes: ['It cannot be undone. The audit log of the company shows it.'],
    operation: 'erasePersonOfCompany',
    advice: () => 'Payloads of events follow within seconds, and what was on its way within ten minutes.',
    lane: 'operator-crm',
  },
  {
    words: ['member', 'remove'],
    about: 'Remove a member from a company, and end what they made',
    options: {
      company,
      email: { value: 'EMAIL', about: 'with which the member signs in', required: true },
      'keep-keys': { value: 'ID,ID', about: 'keys that stay active', read: wholeNumbers },
      'keep-subscriptions': { value: 'ID,ID', about: 'subscriptions that stay on', read: wholeNumbers },
      'keep-channels': { value: 'A,B', about: 'channels that stay: webhook, slack', read: list },
    },
    usage: '--company ID --email EMAIL [--keep-keys ID,ID] [--keep-subscriptions …] …',
    notes: [
      'Their sessions, invitations and links end, and their keys, subscriptions and channels unless they are kept.',
      'Subscriptions are switched off, not deleted: their deliveries are held. The audit log names each.',
    ],
    operation: 'removePortalMember',
  },
  {
    words: ['portal-owner', 'create'],
    about: "Create the owner of a company's portal; a password is generated and shown once",
    options: {
      company,
      email: { value: 'EMAIL', about: 'with which the owner signs in', required: true },
      'password-stdin': { about: 'read the password from standard input instead', field: null },
    },
    operation: 'createPortalOwner',
    advice: ({ password }) => (password === undefined ? undefined : copyNow()),
  },
  {
    words: ['portal-owner', 'reset'],
    about: 'Create a link with which an owner who lost the password chooses a new one',
    options: {
      company,
      email: { value: 'EMAIL', about: 'with which the owner signs in', required: true },
      'two-factor': { about: 'also turn off two-factor sign-in, for a lost phone without recovery codes' },
    },
    notes: [
      'Hand the link over in private: whoever opens it chooses the password. It works once, and for an hour. All',
      'sessions of the owner in this company end when it is used; two-factor sign-in stays as it is without',
      "--two-factor, which ends the sessions at once. The company's audit log shows both. The owner's memberships in",
      'other companies do not change.',
    ],
    operation: 'resetPortalOwner',
    advice: () => `It is to be opened below the portal's own origin. ${copyNow()}`,
  },
  {
    words: ['secrets', 'reencrypt'],
    about: 'Seal the signing secrets with the first key of WEBHOOKS_SECRET_KEYS',
    options: {},
    notes: [
      'To replace a key: append the new one to WEBHOOKS_SECRET_KEYS and restart webhooks and dispatchers, move it to',
      'the front and restart them again, run this, then remove the old one. You may interrupt and repeat it.',
    ],
    operation: 'reencryptSecrets',
    lane: 'operator-webhooks',
    ...resealing,
  },
  {
    words: ['factors', 'reencrypt'],
    about: "Seal members' second factors with the first key of PORTAL_SECRET_KEYS",
    options: {},
    notes: [
      'To replace a key: append the new one to PORTAL_SECRET_KEYS and restart access, move it to the front and restart',
      'it again, run this, then remove the old one. You may interrupt and repeat it.',
    ],
    operation: 'reencryptFactors',
    ...resealing,
  },
];

const sum = (one: unknown, other: unknown): number => Number(one) + Number(other);

export class UsageError extends Error {
  override readonly name = 'UsageError';
}
