import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { causeOf } from '../../model/causes.ts';
import { type Answer, call, operationQuery, useMutation } from '../../model/client.ts';
import type { DeliverySearch } from '../../model/deliveries.ts';
import { useRefusal } from '../../model/session.ts';
import { SubscriptionLink, useSubscriptionNames } from '../../model/subscription-link.tsx';
import { formatDateTime, number } from '../../ui/format.ts';
import { Card, Row } from '../../ui/layout.tsx';
import { RowMenu } from '../../ui/menu.tsx';
import { Empty } from '../../ui/states.tsx';
import { actionsColumn, type Column, Table, timeColumn } from '../../ui/table.tsx';
import { toast, toastError } from '../../ui/toast.ts';
import { Badge } from '../../ui/values.tsx';

type FailureCause = Answer<'listFailureCauses'>['causes'][number];

/** Failing deliveries in groups: what is wrong where, since when, and whether somebody looks after it. */
export function FailureCauses() {
  const query = useQuery({ ...operationQuery('listFailureCauses', {}), refetchInterval: 30_000 });
  const names = useSubscriptionNames();
  const actionsOf = useActions();
  const causes = query.data?.causes.toSorted((a, b) => Number(isQuiet(a)) - Number(isQuiet(b)));
  return (
    <Card flush>
      <Table
        query={query}
        label="Causes of failure"
        columns={[
          ...columnsWith(names),
          actionsColumn<FailureCause>('menu', (one) => (
            <RowMenu label={titleOf(one)} actions={actionsOf(one, names.has(one.subscriptionId))} />
          )),
        ]}
        rows={causes}
        rowKey={(one) => `${one.subscriptionId} ${one.errorClass} ${one.statusCode}`}
        emptyState={
          <Empty title="Nothing is failing">
            Deliveries that were attempted and did not arrive are grouped here by their cause.
          </Empty>
        }
      />
    </Card>
  );
}

/** Acknowledged, and not seen since. */
const isQuiet = ({ acknowledgedUtc, lastSeenUtc }: FailureCause): boolean =>
  acknowledgedUtc !== null && acknowledgedUtc >= lastSeenUtc;

const titleOf = (one: FailureCause): string => causeOf(one)?.title ?? one.errorClass;

const affected = ({ subscriptionId, errorClass, statusCode }: FailureCause): DeliverySearch => ({
  ...{ state: 'failing', subscription: subscriptionId, cause: errorClass },
  ...(statusCode === null ? {} : { status: statusCode }),
});

const useActions = () => {
  const navigate = useNavigate({ from: '/deliveries' });
  const refusal = useRefusal('developer');
  const acknowledge = useMutation({
    mutationFn: ({ subscriptionId, errorClass, statusCode, acknowledgedUtc }: FailureCause) =>
      call('acknowledgeFailureCause', {
        body: { subscriptionId, errorClass, statusCode, acknowledged: acknowledgedUtc === null },
      }),
    meta: { invalidates: [['listFailureCauses']] },
    onSuccess: (_, { acknowledgedUtc }) => toast(acknowledgedUtc === null ? 'Acknowledged' : 'Reopened'),
    onError: toastError,
  });
  return (one: FailureCause, isKnown: boolean) => {
    const disabledReason = refusal ?? (isKnown ? undefined : 'The subscription was deleted');
    return [
      {
        label: 'View deliveries',
        onSelect: () => void navigate({ search: affected(one) }),
      },
      {
        label: 'Replay all affected…',
        disabledReason,
        onSelect: () =>
          void navigate({
            search: { ...affected(one), since: one.firstSeenUtc, view: 'causes', dialog: 'replay' },
          }),
      },
      {
        label: one.acknowledgedUtc === null ? 'Acknowledge' : 'Reopen',
        disabledReason,
        onSelect: () => acknowledge.mutate(one),
      },
    ];
  };
};

const columnsWith = (names: ReadonlyMap<number, string>): readonly Column<FailureCause>[] => [
  {
    header: 'Cause',
    grow: true,
    phone: 'title',
    cell: (one) => (
      <Row>
        <Link to="/deliveries" search={affected(one)}>
          <strong>{titleOf(one)}</strong>
        </Link>
        <Acknowledged cause={one} />
      </Row>
    ),
  },
  {
    header: 'Subscription',
    bounded: true,
    phone: 'detail',
    cell: ({ subscriptionId: id }) => <SubscriptionLink id={id} name={names.get(id)} />,
  },
  {
    header: 'Deliveries',
    align: 'end',
    phone: 'badge',
    cell: ({ count, isMore }) => `${number(count)}${isMore ? '+' : ''}`,
  },
  timeColumn('First seen', ({ firstSeenUtc }) => firstSeenUtc, { align: 'end' }),
  timeColumn('Last seen', ({ lastSeenUtc }) => lastSeenUtc, { align: 'end', phone: 'time' }),
];

function Acknowledged({ cause }: { readonly cause: FailureCause }) {
  const { acknowledgedUtc, acknowledgedBy } = cause;
  if (acknowledgedUtc === null) return null;
  const title = `By ${acknowledgedBy ?? ''}, ${formatDateTime(acknowledgedUtc)}`;
  return isQuiet(cause) ? (
    <Badge title={title}>Acknowledged</Badge>
  ) : (
    <Badge tone="warn" title={title}>
      Seen again
    </Badge>
  );
}
