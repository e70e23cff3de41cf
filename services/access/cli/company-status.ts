import type { CompanyStatusAnswer } from '@causeway/proto';
import { moment, strong, table } from './layout.ts';

type Subscription = CompanyStatusAnswer['subscriptions'][number];

/** Formats the answer of `company status`. */
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
      turnOf(one, now_utc),
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

const turnOf = ({ next_due_utc }: Subscription, now: string): string => turn(next_due_utc, now);

const turn = (due: string | null, now: string): string => {
  if (due === null) return '–';
  return Date.parse(due) > Date.parse(now) ? `in ${ago(now, due)}` : `${ago(due, now)} late`;
};

/** The time between two moments, in its largest unit. */
const ago = (since: string | null, now: string): string => {
  if (since === null) return '–';
  const seconds = Math.max(0, Math.round((Date.parse(now) - Date.parse(since)) / 1000));
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)} min`;
  return `${Math.floor(seconds / 3600)} h`;
};
