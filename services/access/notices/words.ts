import { type NoticeKind, noticeKindFacts } from '@causeway/proto';
import type { RowOf } from '../schema.ts';
import { nameOf } from './names.ts';

export const noticeColumns = [
  'notice_id',
  'kind',
  'subject_id',
  'subject_name',
  'user_id',
  'detail',
  'created_utc',
] as const;
export type NoticeRow = RowOf<'notices', typeof noticeColumns>;

/** What the portal, mails and posts say about a notice. Plain text: each of them escapes it as its format asks. */
export interface NoticeWords {
  readonly title: string;
  readonly text: string;
  /** Of the page that it is about, below `/portal`. */
  readonly path: string;
}

/** @param readerId the member who reads it; absent for channels. */
export const wordsOf = (notice: NoticeRow, readerId?: number): NoticeWords =>
  words[notice.kind](nameOf(notice.subject_name), JSON.parse(notice.detail) as Detail, notice, readerId);

/** Of some notices of one kind that go in one message. */
export const titleOf = (notices: readonly NoticeRow[]): string => {
  const [first] = notices;
  if (!first) return '';
  return notices.length === 1
    ? wordsOf(first).title
    : `${noticeKindFacts[first.kind].title}: ${notices.length}`;
};

/** @param time in UTC, of a date or as ISO 8601 */
export const minuteOf = (time: Date | string | number): string =>
  `${new Date(time).toISOString().slice(0, 16).replace('T', ' ')} UTC`;

type Detail = Readonly<Record<string, string | number | null | undefined>>;
type Words = (name: string, detail: Detail, notice: NoticeRow, readerId: number | undefined) => NoticeWords;

const ofSubscription = ({ subject_id }: NoticeRow): string => `/subscriptions/${subject_id}`;

const words: Readonly<Record<NoticeKind, Words>> = {
  subscription_failing: (name, { since, statusCode, errorClass }, notice) => ({
    title: `“${name}” is failing`,
    text: `${since ? `${statusCode ?? errorClass} since ${minuteOf(since)}. ` : ''}Deliveries wait, and nothing is lost. You are told when it has caught up.`,
    path: ofSubscription(notice),
  }),
  subscription_disabled: (name, { reason }, notice) => ({
    title: `“${name}” was switched off`,
    text: `Reason: ${reason}. Pending deliveries are held until you release or discard them.`,
    path: ofSubscription(notice),
  }),
  subscription_recovered: (name, { since }, notice) => ({
    title: `“${name}” has caught up`,
    text: `It accepts deliveries again${since ? `; it was broken since ${minuteOf(since)}` : ''}.`,
    path: ofSubscription(notice),
  }),
  delivery_given_up: (name, { eventId, replayId, eventType, attempts, statusCode }, { subject_id }) => ({
    title: `A delivery to “${name}” was given up`,
    text: `${eventType} was attempted ${attempts === 1 ? 'once' : `${attempts} times`}. ${
      statusCode ? `The last answer was ${statusCode}.` : 'The last attempt had no answer.'
    }`,
    path: `/deliveries/${eventId}/${subject_id}/${replayId}`,
  }),
  limit_near: (name, { bucket, used, limit, limited, minute }, { subject_id }) => ({
    title: `“${name}” ${limited ? 'was over' : 'is near'} its ${bucket} limit`,
    text: limited
      ? `${limited} of ${used} requests in the minute of ${minute} UTC were refused; ${limit} are allowed.`
      : `It made ${used} of ${limit} requests in the minute of ${minute} UTC.`,
    path: `/keys/${subject_id}`,
  }),
  key_expiring: (name, { until }, { subject_id }) => ({
    title: `“${name}” is about to expire`,
    text: `The API key is refused from ${until} UTC on. Change its expiry if it is still needed.`,
    path: `/keys/${subject_id}`,
  }),
  access_changed: (name, { action, by, before, after }, { user_id }, readerId) => ({
    title: changeTitles[String(action)]?.(name, String(after)) ?? `${name}: ${action}`,
    text: `Changed by ${nameOf(String(by))}.${before && after ? ` The role was ${before} before.` : ''}`,
    path: user_id === readerId ? '/security' : '/team',
  }),
};

const changeTitles: Readonly<Record<string, (name: string, after: string) => string>> = {
  'member.joined': (name, after) => `${name} joined as ${after}`,
  'member.removed': (name) => `${name} was removed`,
  'member.role_changed': (name, after) => `${name} is now ${after}`,
  'passkey.added': (name) => `${name} added a passkey`,
  'passkey.removed': (name) => `${name} removed a passkey`,
  'totp.enabled': (name) => `${name} turned two-factor sign-in on`,
  'totp.disabled': (name) => `${name} turned two-factor sign-in off`,
  'totp.reset': (name) => `The second factor of ${name} was reset`,
};
