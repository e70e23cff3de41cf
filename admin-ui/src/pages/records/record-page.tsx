import { summaryOf } from '@causeway/proto/event-summary';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { Activity } from '../../model/activity.tsx';
import type { Answer } from '../../model/client.ts';
import { countsQuery, type Delivery, deliveriesQuery } from '../../model/deliveries.ts';
import { DeliveryTable } from '../../model/delivery-table.tsx';
import { ErasePerson } from '../../model/erase-person.tsx';
import { nameOfMember } from '../../model/members.ts';
import { eventsQuery, keyQuery, personQuery, teamQuery } from '../../model/queries.ts';
import { titleOf } from '../../model/records.tsx';
import { roleAtLeast, useSession } from '../../model/session.ts';
import { UndeliveredLink } from '../../model/subscription-links.tsx';
import { nameOf } from '../../model/subscriptions.ts';
import { CopyButton } from '../../ui/button.tsx';
import { plural } from '../../ui/format.ts';
import { BackLink, Card, Facts, Page, Quiet, Row, Split } from '../../ui/layout.tsx';
import { Empty, Loaded, Notice } from '../../ui/states.tsx';
import { Badge, Cut, Moment, TimeAgo } from '../../ui/values.tsx';
import s from './record-page.module.css';

type Person = NonNullable<Answer<'getPortalPerson'>['person']>;

export function RecordPage() {
  const { id } = useParams({ from: '/in/clients/$id' });
  const query = useQuery(personQuery(id));
  const person = query.data?.person;
  const subject = { kind: 'client', id, name: person?.name ?? null } as const;
  return (
    <Page
      title={titleOf(subject, new Map())}
      oneLine
      description="The record, its events and their deliveries, and who changed it."
      back={<BackLink to="/events">Events</BackLink>}
    >
      <Loaded query={query}>
        {({ erasedUtc }) => (
          <Split
            aside={
              <>
                {person && <About person={person} />}
                <Activity kind="person" id={id} />
              </>
            }
          >
            {erasedUtc !== null ? (
              <Notice tone="info" title="This person was erased">
                <Moment time={erasedUtc} />. Only the numbers of its events are left.
              </Notice>
            ) : (
              !person && <Notice tone="info">There is no record with this number.</Notice>
            )}
            <Deliveries client={id} />
            <Events client={id} />
          </Split>
        )}
      </Loaded>
    </Page>
  );
}

function About({ person }: { readonly person: Person }) {
  const { role } = useSession().user;
  const origin = useOrigin(person.origin);
  const shown = (value: string | null) => (value ? <bdi>{value}</bdi> : <Quiet>–</Quiet>);
  return (
    <Card title="About">
      {role === 'viewer' && <Notice tone="info">Personal data is hidden from your role.</Notice>}
      <Facts
        columns={8}
        facts={{
          [person.isLead ? 'Lead' : 'Client']: (
            <>
              <code>{person.id}</code> <CopyButton value={String(person.id)} label="Copy client number" />
            </>
          ),
          Name: role !== 'viewer' && shown(person.name),
          Status: <Badge>{person.status}</Badge>,
          'External ID': shown(person.externalId),
          Email: role !== 'viewer' && shown(person.email),
          Phone: role !== 'viewer' && shown(person.phone),
          Created: <Moment time={person.createdUtc} />,
          [`Version ${person.version}`]: <TimeAgo time={person.updatedUtc} />,
          'Last changed by': shown(origin ?? person.origin),
        }}
      />
      {roleAtLeast(role, 'admin') && (
        <Row>
          <ErasePerson id={person.id} />
        </Row>
      )}
    </Card>
  );
}

/** Folded: the deliveries are of these events. */
function Events({ client }: { readonly client: number }) {
  const query = useQuery(eventsQuery({ client }));
  return (
    <Card
      title="Events"
      actions={
        <Link to="/events" search={{ client }}>
          All events
        </Link>
      }
    >
      <Loaded query={query}>{(found) => <FoldedEvents {...found} />}</Loaded>
    </Card>
  );
}

function FoldedEvents({ events, hasMore }: Answer<'listPortalEvents'>) {
  const { settings } = useSession();
  if (events.length === 0)
    return <Quiet>Events are kept for {plural(settings.retentionDays, '# day')}.</Quiet>;
  return (
    <details>
      <summary>{hasMore ? `The latest ${events.length}` : plural(events.length, '# event')}</summary>
      <ol className={s.list}>
        {events.map((event) => (
          <li key={event.id}>
            <Link to="/events/$id" params={{ id: event.id }}>
              <strong>Event {event.id}</strong>
            </Link>{' '}
            <Badge mono>{event.type}</Badge> <Quiet>{summaryOf(event.payload)}</Quiet>{' '}
            <Quiet small>
              <TimeAgo time={event.createdUtc} />
            </Quiet>
          </li>
        ))}
      </ol>
    </details>
  );
}

function Deliveries({ client }: { readonly client: number }) {
  const query = useQuery({ ...deliveriesQuery({ client }, 20), refetchInterval: 15_000 });
  const undelivered = useQuery({ ...countsQuery({ client }), refetchInterval: 15_000 }).data?.undelivered;
  return (
    <Card
      flush
      title="Deliveries"
      actions={
        <Row>
          {undelivered && undelivered.count > 0 && (
            <UndeliveredLink undelivered={undelivered} search={{ client }} />
          )}
          <Link to="/deliveries" search={{ client }}>
            All deliveries
          </Link>
        </Row>
      }
    >
      <DeliveryTable
        query={query}
        without="record"
        emptyState={
          <Empty title="No deliveries">No enabled subscription received the events of this record.</Empty>
        }
      />
      <Receivers client={client} deliveries={query.data?.deliveries ?? []} />
    </Card>
  );
}

/** Which subscription got how many of the latest. */
function Receivers({
  client,
  deliveries,
}: {
  readonly client: number;
  readonly deliveries: readonly Delivery[];
}) {
  const groups = [...Map.groupBy(deliveries, ({ subscriptionId }) => subscriptionId)];
  return (
    groups.length > 1 && (
      <div className={s.receivers}>
        {groups.map(([id, own]) => {
          const got = own.filter(({ state }) => state === 'succeeded').length;
          const { subscription } = own[0]!;
          return (
            <Link key={id} to="/deliveries" search={{ client, subscription: id }}>
              <Badge tone={got === own.length ? 'good' : 'warn'} dot>
                <Cut text={subscription ? nameOf(subscription) : `Subscription ${id}`} /> {got} of{' '}
                {own.length}
              </Badge>
            </Link>
          );
        })}
      </div>
    )
  );
}

/** Who caused something (contract, "Changes"), in words: the name of a key or a member. */
const useOrigin = (origin: string | null): string | undefined => {
  const { role } = useSession().user;
  const [kind, id = ''] = origin?.split(':') ?? [];
  const key = useQuery({ ...keyQuery(Number(id)), enabled: kind === 'key' }).data;
  const team = useQuery({ ...teamQuery, enabled: kind === 'member' && roleAtLeast(role, 'developer') }).data;
  if (kind === undefined) return undefined;
  if (kind === 'key') return key?.name ?? `Key ${id}`;
  if (kind !== 'member') return kind === 'system' ? 'The CRM' : 'An operator';
  const member = team?.members.find((one) => String(one.id) === id);
  return member ? nameOfMember(member) : `Member ${id}`;
};
