import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { causeOf } from '../../model/causes.ts';
import type { Answer } from '../../model/client.ts';
import { causesQuery, countText, type DeliverySearch } from '../../model/deliveries.ts';
import { useRefusal } from '../../model/session.ts';
import { SubscriptionLink, useSubscriptionNames } from '../../model/subscription-links.tsx';
import { Card } from '../../ui/layout.tsx';
import { RowMenu } from '../../ui/menu.tsx';
import { Empty } from '../../ui/states.tsx';
import { actionsColumn, type Column, Table, timeColumn } from '../../ui/table.tsx';

type FailureCause = Answer<'listFailureCauses'>['causes'][number];

/** What has not arrived, in groups: what is wrong where, and since when. */
export function FailureCauses() {
  const query = useQuery(causesQuery);
  const names = useSubscriptionNames();
  const actionsOf = useActions();
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
        rows={query.data?.causes}
        rowKey={(one) => `${one.subscriptionId} ${one.errorClass ?? one.state} ${one.statusCode}`}
        emptyState={
          <Empty title="Everything has arrived">
            What should have arrived and has not is grouped here by its cause.
          </Empty>
        }
      />
    </Card>
  );
}

const titleOf = (one: FailureCause): string => causeOf(one)?.title ?? neverAttempted[one.state];

const neverAttempted: Readonly<Record<FailureCause['state'], string>> = {
  waiting: 'Waits for its turn',
  held: 'Held, not attempted yet',
  missed: 'Missed while the subscription was off or over the quota',
  failed: 'Not attempted',
};

const affected = ({ subscriptionId, errorClass, statusCode, state }: FailureCause): DeliverySearch => ({
  subscription: subscriptionId,
  ...(errorClass === null
    ? { state: state === 'missed' ? 'undelivered' : state }
    : { state: 'undelivered', cause: errorClass }),
  ...(statusCode === null ? {} : { status: statusCode }),
});

const useActions = () => {
  const navigate = useNavigate({ from: '/deliveries' });
  const refusal = useRefusal('developer');
  return (one: FailureCause, isKnown: boolean) => {
    const disabledReason = refusal ?? (isKnown ? undefined : 'The subscription was deleted');
    return [
      {
        label: 'View deliveries',
        onSelect: () => void navigate({ search: affected(one) }),
      },
      {
        label: 'Deliver all affected again…',
        disabledReason: disabledReason ?? (one.errorClass === null ? 'They were never attempted' : undefined),
        onSelect: () =>
          void navigate({
            to: '/subscriptions/$id',
            params: { id: one.subscriptionId },
            search: {
              ...{ dialog: 'again', cause: one.errorClass ?? undefined, since: one.firstSeenUtc },
              status: one.statusCode ?? undefined,
            },
          }),
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
      <Link to="/deliveries" search={affected(one)}>
        <strong>{titleOf(one)}</strong>
      </Link>
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
    cell: countText,
  },
  timeColumn('First seen', ({ firstSeenUtc }) => firstSeenUtc, { align: 'end' }),
  timeColumn('Last seen', ({ lastSeenUtc }) => lastSeenUtc, { align: 'end', phone: 'time' }),
];
