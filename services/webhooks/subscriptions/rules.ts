import { eventsMeeting, type SubscriptionRow, sizeFor } from '@causeway/deliveries';
import {
  conditionName,
  conditionProblems,
  contract,
  type Detail,
  type EventType,
  invalid,
  maxHeaders,
  type PayloadCondition,
  secondsOf,
} from '@causeway/proto';
import { handler, json, openSecret } from '@causeway/runtime';
import { sql } from 'kysely';
import type { WebhooksContext } from '../context.ts';
import type { Editor } from './editor.ts';
import { sealGiven } from './seal.ts';

/** What a caller asks of a subscription's events and deliveries; undefined: it stays as it is. */
export interface AskedRules {
  readonly conditions?: readonly PayloadCondition[] | null | undefined;
  readonly pace?: { readonly limit: number; readonly per: 'second' | 'minute' } | null | undefined;
  readonly headers?: Readonly<Record<string, string | null>> | null | undefined;
}

type RuleColumns = Pick<SubscriptionRow, 'pace_limit' | 'pace_seconds' | 'headers'> & {
  readonly conditions: string | null;
  readonly header_names: string | null;
};

/** The columns to write. @throws Problem `invalid_request` if there are too many headers then */
export const ruleColumns = (
  { keyRing }: Pick<WebhooksContext, 'keyRing'>,
  companyId: number,
  { conditions, pace, headers }: AskedRules,
  before?: Pick<SubscriptionRow, 'headers'>,
): Partial<RuleColumns> => ({
  ...(conditions !== undefined && { conditions: conditions && JSON.stringify(conditions) }),
  ...(pace !== undefined && {
    pace_limit: pace?.limit ?? null,
    pace_seconds: pace && secondsOf(pace.per),
  }),
  ...(headers !== undefined && headerColumns(keyRing, companyId, headers, before?.headers ?? null)),
});

/**
 * A change of the URL's origin names all headers of before: their values are secrets of the receiver they were given for.
 * @throws Problem `invalid_request`
 */
export const assertHeadersGiven = (
  before: Pick<SubscriptionRow, 'url' | 'header_names'>,
  { url, headers }: Pick<AskedRules, 'headers'> & { readonly url?: string | undefined },
): void => {
  if (url === undefined || headers === null || URL.parse(url)?.origin === URL.parse(before.url)?.origin)
    return;
  const names = new Set(Object.keys(headers ?? {}).map((name) => name.toLowerCase()));
  const missing = before.header_names?.filter((name) => !names.has(name.toLowerCase())) ?? [];
  if (missing.length === 0) return;
  const message = `headers: another origin of the URL needs the values of ${missing.join(', ')} anew, or null`;
  throw invalid([{ field: 'headers', code: 'required', message }]);
};

/** Disabling and enabling leave the pause as it is. */
export const pausedBy = (
  before: Pick<SubscriptionRow, 'paused_utc'>,
  { paused }: { readonly paused?: boolean | undefined },
  { editor, now }: { readonly editor: Editor; readonly now: Date },
) => {
  if (paused === undefined || paused === (before.paused_utc !== null)) return {};
  return { paused_utc: paused ? now : null, paused_by: paused ? editor.by.name.slice(0, 200) : null };
};

const headerColumns = (
  keyRing: WebhooksContext['keyRing'],
  companyId: number,
  askedHeaders: NonNullable<AskedRules['headers']> | null,
  before: Buffer | null,
): Pick<RuleColumns, 'headers' | 'header_names'> => {
  const kept: [string, string][] =
    askedHeaders === null || before === null
      ? []
      : Object.entries(JSON.parse(openSecret(keyRing, companyId, before)));
  const named = new Map(
    Object.entries(askedHeaders ?? {}).map(([name, value]) => [name.toLowerCase(), { name, value }]),
  );
  const all = [
    ...kept.filter(([name]) => !named.has(name.toLowerCase())),
    ...[...named.values()].flatMap(({ name, value }) => (value === null ? [] : [[name, value] as const])),
  ];
  if (all.length === 0) return { headers: null, header_names: null };
  if (all.length > maxHeaders)
    throw invalid([{ field: 'headers', code: 'too_long', message: `headers must be at most ${maxHeaders}` }]);
  return {
    headers: sealGiven({ keyRing }, companyId, JSON.stringify(Object.fromEntries(all))),
    header_names: JSON.stringify(all.map(([name]) => name)),
  };
};

type ShownRules = Pick<
  SubscriptionRow,
  'conditions' | 'pace_limit' | 'pace_seconds' | 'paused_utc' | 'header_names'
>;

/** Rules that are not set are left out, so that callers who do not use them see nothing new. */
export const rulesAnswer = (row: ShownRules) => ({
  ...(row.conditions && { conditions: row.conditions.map((one) => ({ ...one, in: one.in && [...one.in] })) }),
  ...(row.pace_limit !== null && { pace: paceAnswer(row) }),
  ...(row.paused_utc !== null && { paused: true as const }),
  ...(row.header_names && { headerNames: [...row.header_names] }),
});

const paceAnswer = ({ pace_limit, pace_seconds }: ShownRules) => ({
  limit: pace_limit!,
  per: pace_seconds === 1 ? ('second' as const) : ('minute' as const),
});

/** For the audit log, which has neither the values of conditions nor of headers. */
export const auditedRules = (row: ShownRules) => ({
  conditions: row.conditions?.map(conditionName) ?? null,
  pace: row.pace_limit === null ? null : `${row.pace_limit} per ${paceAnswer(row).per}`,
  paused: row.paused_utc !== null,
  headers: row.header_names,
});

export const typeProblems = (fields: {
  readonly eventTypes?: readonly EventType[] | undefined;
  readonly conditions?: readonly PayloadCondition[] | null | undefined;
}): readonly Detail[] =>
  fields.eventTypes && fields.conditions ? conditionProblems(fields.eventTypes, fields.conditions) : [];

/** Members who read payloads only: the answer tells of them. */
export const previewConditions = ({ db }: WebhooksContext) =>
  handler(
    contract.previewConditions,
    async ({ companyId, deadlineMs, body: { eventTypes, conditions = null } }) => {
      const stopMs = performance.now() + maxPreviewMs;
      const events = await db
        .selectFrom('events')
        .modifyFront(sql`/*+ INDEX(events PRIMARY) */`)
        .select(['sequence as position', 'created_utc'])
        .select(sizeFor(conditions).as('bytes'))
        .where('company_id', '=', companyId)
        .where('type', 'in', eventTypes)
        .orderBy('sequence', 'desc')
        .limit(previewed)
        .execute();
      const bounds = { most: previewed, stopMs, deadlineMs };
      const { met, examined } = await eventsMeeting(db, companyId, conditions, events, bounds);
      return json(200, { matched: met.length, events: examined });
    },
    typeProblems,
  );

const previewed = 100;
const maxPreviewMs = 1_000;
