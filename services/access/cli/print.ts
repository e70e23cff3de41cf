import { styleText } from 'node:util';
import type {
  AnswerTo,
  CompanyAnswer,
  CompanyStatusAnswer,
  KeyAnswer,
  ReencryptAnswer,
} from '@causeway/proto';
import { type Command, commands, type OperationId } from './commands.ts';

export const printers: Readonly<Record<OperationId, (answer: never) => string>> = {
  createCompany: ({ company_id, name }: CompanyAnswer) => `Company ${strong(company_id)} · ${name}`,

  listCompanies: ({ companies }: { readonly companies: readonly CompanyAnswer[] }) =>
    companies.length === 0
      ? 'There is no company yet. Create one: company create --name NAME'
      : table(
          ['company', 'name', 'created (UTC)'],
          companies.map(({ company_id, name, created_utc }) => [
            String(company_id),
            name,
            moment(created_utc),
          ]),
        ),

  getCompanyStatus: (answer: CompanyStatusAnswer) => companyStatus(answer),

  createKey: ({ id, company_id, name, scopes, value }: KeyAnswer & { readonly value: string }) =>
    `Key ${strong(id)} of company ${company_id} · ${name}

  ${strong(value)}

Copy it now: this is the only time it is shown.
It works from this moment on, for ${scopes.join(', ')}.`,

  listKeys: ({ keys }: { readonly keys: readonly KeyAnswer[] }) =>
    keys.length === 0
      ? 'There is no key yet. Create one: key create --company ID --name NAME --scopes A,B'
      : table(
          ['id', 'company', 'name', 'key', 'status', 'last used (UTC)', 'scopes'],
          keys.map((key) => [
            String(key.id),
            String(key.company_id),
            key.name,
            key.masked,
            key.is_active ? 'active' : `revoked ${moment(key.revoked_utc)}`,
            moment(key.last_used_utc),
            key.scopes.join(' '),
          ]),
        ),

  revokeKey: ({ id, name, masked, revoked_utc }: KeyAnswer) =>
    `Key ${strong(id)} is revoked · ${name} · ${masked}
No gateway accepts it any more (since ${moment(revoked_utc)} UTC).`,

  setLimits: ({ company_id, id, limits, temporary }: AnswerTo<'setLimits'>) =>
    `${id === undefined ? `Company ${strong(company_id)}` : `Key ${strong(id)} of company ${company_id}`} · requests per minute

${columns(Object.entries(limits).map(([name, limit]) => [`  ${name}`, limit === null ? 'default' : String(limit)]))}${
  temporary
    ? `

Until ${moment(temporary.until)} UTC:

${columns(Object.entries(temporary.limits).map(([name, limit]) => [`  ${name}`, String(limit)]))}`
    : ''
}`,

  erasePersonOfCompany: ({ company_id, client_id }: AnswerTo<'erasePersonOfCompany'>) =>
    `Person ${strong(client_id)} of company ${company_id} is erased.
Payloads of events and deliveries follow within seconds, and what was on its way within ten minutes.`,

  createPortalOwner: ({ company_id, email, password }: OwnerAnswer) =>
    password === undefined
      ? `Owner of the portal of company ${strong(company_id)} · ${email}`
      : `Owner of the portal of company ${strong(company_id)}

${columns([
  ['  email', email],
  ['  password', strong(password)],
])}

Copy the password now: this is the only time it is shown.`,

  removePortalMember: ({ company_id, email, revoked_keys }: AnswerTo<'removePortalMember'>) =>
    `${strong(email)} is removed from company ${company_id}
Sessions and links ended${revoked_keys.length === 0 ? '' : `, keys revoked: ${revoked_keys.join(', ')}`}. The audit log shows what else was switched off.`,

  resetPortalOwner: ({
    company_id,
    email,
    two_factor_reset,
    link,
    expires_utc,
  }: AnswerTo<'resetPortalOwner'>) =>
    `A link for the owner of company ${strong(company_id)} · ${email}

  ${strong(link)}
${two_factor_reset ? '\nTwo-factor sign-in is off, and all sessions of the owner have ended.' : ''}
It is to be opened below the portal's own origin, works once, and until ${moment(expires_utc)} UTC.
Copy it now: this is the only time it is shown.`,

  reencryptSecrets: (answer: ReencryptAnswer) => resealed(answer, 'WEBHOOKS_SECRET_KEYS'),

  reencryptFactors: (answer: ReencryptAnswer) => resealed(answer, 'PORTAL_SECRET_KEYS'),
};

const resealed = ({ key, checked, resealed, unopened }: ReencryptAnswer, ring: string): string =>
  `Secrets ${strong(checked)} · re-encrypted with the key ${key} ${strong(resealed)}
${
  unopened === 0
    ? 'No other key is needed any more.'
    : `${strong(unopened)} could not be decrypted, because ${ring} does not have their key. They were not changed.`
}`;

/** A password that was generated here is shown. */
type OwnerAnswer = AnswerTo<'createPortalOwner'> & { readonly password?: string };

const program = 'npm run -s causeway --';

export const helpAll = (): string =>
  `Causeway's operator: companies, API keys, limits, secrets.

Usage: ${program} <command> [options]

${columns(commands.map((command) => [`  ${command.words.join(' ')}`, command.about]))}

Every command takes --json (one JSON object on standard output) and --help (its options).
For developers, with an API key and --help alone: listen, trigger, tail.
The cluster is the running one of STACK_HOME (.stack), or the one that NATS_URL names.
Exit status: 0 done, 1 refused or not reachable, 2 not understood.
`;

export const helpFor = (command: Command): string => {
  const options = Object.entries({
    ...command.options,
    json: { about: 'print one JSON object' },
    help: { about: 'print this' },
  }).map(([name, option]) => [`  --${name}${'value' in option ? ` ${option.value}` : ''}`, option.about]);
  const notes = command.notes ? `\n${command.notes.join('\n')}\n` : '';
  return `${command.about}.

Usage: ${program} ${usageOf(command)}

${columns(options)}
${notes}`;
};

export const hintFor = (args: readonly string[]): string => {
  const known = commands.some(({ words }) => words[0] === args[0] && words[1] === args[1]);
  return `${program} ${known ? `${args[0]} ${args[1]} ` : ''}--help`;
};

const usageOf = ({ words, usage, options }: Command): string =>
  [...words, usage ?? optionsOf(options)].join(' ');

const optionsOf = (options: Command['options']): string =>
  Object.entries(options)
    .map(([name, { value, required }]) => {
      const text = value ? `--${name} ${value}` : `--${name}`;
      return required ? text : `[${text}]`;
    })
    .join(' ');

type Subscription = CompanyStatusAnswer['subscriptions'][number];

export const companyStatus = ({
  company_id,
  now_utc,
  events,
  total,
  subscriptions,
}: CompanyStatusAnswer): string => {
  const title = `Company ${strong(company_id)} at ${moment(now_utc)} UTC`;
  const waiting =
    events.waiting === 0
      ? 'No event waits for its first attempt.'
      : `Events before their first attempt: ${strong(events.waiting)}, the oldest ${ago(events.oldest_utc, now_utc)} old`;
  if (total === 0) return `${title}\n${waiting}\nIt has no subscription.`;
  const queues = table(
    [
      'subscription',
      'receiver',
      'state',
      'waiting',
      'held',
      'missed',
      'next turn',
      'last success (UTC)',
      '24 h',
    ],
    subscriptions.map((one) => [
      String(one.subscription_id),
      one.origin,
      stateOf(one),
      ...[one.waiting, one.held, one.missed].map(String),
      turn(one.next_due_utc, now_utc),
      moment(one.last_success_utc),
      `${one.succeeded_24h} succeeded, ${one.failed_24h} failed`,
    ]),
  );
  const late = subscriptions.filter(({ oldest }) => oldest);
  const oldest =
    late.length === 0
      ? 'No delivery waits.'
      : table(
          ['subscription', 'oldest event', 'age', 'attempts', 'due', 'last result'],
          late.map((one) => [
            String(one.subscription_id),
            String(one.oldest!.event_id),
            ago(one.oldest!.created_utc, now_utc),
            String(one.oldest!.attempts),
            turn(one.oldest!.due_utc, now_utc),
            [one.oldest!.last_status, one.oldest!.last_error].filter((part) => part !== null).join(' ') ||
              '–',
          ]),
        );
  const rest = total > subscriptions.length ? `\n… and ${total - subscriptions.length} more` : '';
  return `${title}\n${waiting}\n\n${queues}${rest}\n\n${oldest}`;
};

const stateOf = ({ enabled, disabled_reason, consecutive_failures }: Subscription): string => {
  if (!enabled) return disabled_reason ? `disabled: ${disabled_reason}` : 'disabled';
  return consecutive_failures === 0 ? 'healthy' : `failing, ${consecutive_failures} in a row`;
};

const turn = (due: string | null, now: string): string => {
  if (due === null) return '–';
  return Date.parse(due) > Date.parse(now) ? `in ${ago(now, due)}` : `${ago(due, now)} late`;
};

const ago = (since: string | null, now: string): string => {
  if (since === null) return '–';
  const seconds = Math.max(0, Math.round((Date.parse(now) - Date.parse(since)) / 1000));
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)} min`;
  return `${Math.floor(seconds / 3600)} h`;
};

/** Columns two spaces apart, without trailing spaces. Widths count code points. */
export const columns = (rows: readonly (readonly string[])[]): string => {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => widthOf(row[at] ?? ''))));
  return rows
    .map((row) =>
      row
        .map((text, at) => text + ' '.repeat(Math.max(0, widths[at]! - widthOf(text))))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
};

const widthOf = (text: string): number => [...text].length;

/** A time for people to read, in UTC: `2026-03-01 09:30`. */
export const moment = (iso: string | null): string =>
  iso === null ? '–' : iso.slice(0, 16).replace('T', ' ');

export const strong = (text: unknown): string => styleText('bold', String(text), { stream: process.stdout });

export const table = (heads: readonly string[], rows: readonly (readonly string[])[]): string => {
  const [head, ...lines] = columns([heads.map((text) => text.toUpperCase()), ...rows]).split('\n');
  return [styleText('dim', head ?? '', { stream: process.stdout }), ...lines].join('\n');
};
