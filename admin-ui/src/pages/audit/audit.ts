import { operationQuery } from '../../model/client.ts';
import { minutesAgo } from '../../model/queries.ts';
import { anyNumber, anyText, anyWord, oneOf, searchOf } from '../../model/search.ts';

export const auditSearch = searchOf({
  q: anyText,
  action: anyText,
  kind: anyText,
  target: anyWord,
  user: anyNumber,
  period: oneOf(['24h', '7d', '30d', '90d']),
  since: anyText,
  until: anyText,
  signIns: oneOf(['shown']),
  cursor: anyText,
});

export type AuditSearch = ReturnType<typeof auditSearch>;

export const auditPeriods = [
  { value: '24h', label: 'Last 24 hours', minutes: 1440 },
  { value: '7d', label: 'Last 7 days', minutes: 10_080 },
  { value: '30d', label: 'Last 30 days', minutes: 43_200 },
  { value: '90d', label: 'Last 90 days', minutes: 129_600 },
] as const;

/** Sign-ins are hidden, unless the filters ask for them. */
export const auditParameters = ({ q, action, kind, target, user, ...search }: AuditSearch) => {
  const period = auditPeriods.find(({ value }) => value === search.period);
  const shown = search.signIns === 'shown' || kind === 'session' || action?.startsWith('session.');
  return {
    ...{ q, action, targetKind: kind, targetId: target, userId: user, until: search.until },
    since: period ? minutesAgo(period.minutes) : search.since,
    signIns: shown ? undefined : 'hidden',
    cursor: search.cursor,
  };
};

/** The latest who have left. */
export const leaversQuery = operationQuery('listAudit', { query: { action: 'member.removed', limit: 100 } });

export const auditQuery = (search: AuditSearch) =>
  operationQuery('listAudit', { query: auditParameters(search) });
