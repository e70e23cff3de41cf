import { summaryOf } from '@causeway/proto/event-summary';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { Activity } from '../../model/activity.tsx';
import { type Answer, operationQuery } from '../../model/client.ts';
import { countsQuery, deliveriesQuery } from '../../model/deliveries.ts';
import { DeliveryTable } from '../../model/delivery-table.tsx';
import { ErasePerson } from '../../model/erase-person.tsx';
import { nameOfMember } from '../../model/members.ts';
import { eventsQuery, personQuery, teamQuery } from '../../model/queries.ts';
import { titleOf } from '../../model/records.tsx';
import { roleAtLeast, useSession } from '../../model/session.ts';
import { UndeliveredLink } from '../../model/undelivered.tsx';
import { CopyButton } from '../../ui/button.tsx';
import { plural } from '../../ui/format.ts';
import { BackLink, Card, Facts, Page, Quiet, Row, Split, Stack } from '../../ui/layout.tsx';
import { Empty, isFirstLoading, Loaded, Notice, SkeletonCard } from '../../ui/states.tsx';
import { Badge, Moment, TimeAgo } from '../../ui/values.tsx';
import s from './record-page.module.css';

type Person = NonNullable<Answer<'getPortalPerson'>['person']>;

export function RecordPage() {
  const { id } = useParams({ from: '/in/clients/$id' });
  const query = useQuery(personQuery(id));
  const events = useQuery(eventsQuery({ client: id }));
  const person = query.data?.person;
  const subject = { kind: 'client', id, name: person?.name ?? null } as const;
  return (
    <Page
      title={titleOf(subject, new Map())}
      oneLine
      description="The record, its events and their deliveries, and who changed it."
      back={<BackLink to="/events">Events</BackLink>}
    >
      <Loaded
        query={query}
        ready={!isFirstLoading(events)}
        skeleton={
          <Split aside={<SkeletonCard lines={8} />}>
            <SkeletonCard lines={12} />
          </Split>
        }
      >
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
  const origin = useOrigins([person.origin]).get(person.origin);
  const shown = (value: string | null) => (value ? <bdi>{value}</bdi> : <Quiet>–</Quiet>);
  return (
    <Card title="About">
      <Stack>
        {role === 'viewer' && <Notice tone="info">Personal data is hidden from your role.</Notice>}
        <Facts
          columns={8}
          facts={[
            {
              label: person.isLead ? 'Lead' : 'Client',
              value: (
                <>
                  <code>{person.id}</code> <CopyButton value={String(person.id)} label="Copy client number" />
                </>
              ),
            },
            role !== 'viewer' && { label: 'Name', value: shown(person.name) },
            { label: 'Status', value: <Badge>{person.status}</Badge> },
            { label: 'External ID', value: shown(person.externalId) },
            role !== 'viewer' && { label: 'Email', value: shown(person.email) },
            role !== 'viewer' && { label: 'Phone', value: shown(person.phone) },
            { label: 'Created', value: <Moment time={person.createdUtc} /> },
            { label: `Version ${person.version}`, value: <TimeAgo time={person.updatedUtc} /> },
            { label: 'Last changed by', value: shown(origin ?? person.origin) },
          ]}
        />
        {roleAtLeast(role, 'admin') && (
          <Row>
            <ErasePerson id={person.id} />
          </Row>
        )}
      </Stack>
    </Card>
  );
}

function Events({ client }: { readonly client: number }) {
  const query = useQuery(eventsQuery({ client }));
  const { settings } = useSession();
  const origins = useOrigins(query.data?.events.map(({ origin }) => origin) ?? []);
  return (
    <Card
      title="Events"
      actions={
        <Link to="/events" search={{ client }}>
          All events
        </Link>
      }
    >
      <Loaded query={query} skeleton={<SkeletonCard lines={6} />}>
        {({ events }) =>
          events.length === 0 ? (
            <Empty title="No events">
              Events are kept for {plural(settings.retentionDays, '# day', '# days')}.
            </Empty>
          ) : (
            <ol className={s.list}>
              {events.map((event) => (
                <li key={event.id}>
                  <Row>
                    <Link to="/events/$id" params={{ id: event.id }}>
                      <strong>Event {event.id}</strong>
                    </Link>
                    <Badge mono>{event.type}</Badge>
                    <Quiet>{summaryOf(event.payload)}</Quiet>
                  </Row>
                  <p className={s.by}>
                    <TimeAgo time={event.createdUtc} />
                    {event.origin !== null && <bdi> · {origins.get(event.origin) ?? event.origin}</bdi>}
                  </p>
                </li>
              ))}
            </ol>
          )
        }
      </Loaded>
    </Card>
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
    </Card>
  );
}

/** Who caused something (contract, "Changes"), in words: the name of a key or a member. */
const useOrigins = (origins: readonly (string | null)[]): ReadonlyMap<string, string> => {
  const { role } = useSession().user;
  const all = [...new Set(origins)].filter((origin) => origin !== null);
  const ids = all.flatMap((origin) => /^key:(\d+)$/.exec(origin)?.[1] ?? []).sort();
  const keys = useQuery({
    ...operationQuery('listApiKeys', { query: { ids: ids.slice(0, 200).join(), limit: 200 } }),
    enabled: ids.length > 0,
  }).data?.keys;
  const members = useQuery({
    ...teamQuery,
    enabled: roleAtLeast(role, 'developer') && all.some((origin) => origin.startsWith('member:')),
  }).data?.members;
  return new Map(
    all.map((origin) => {
      const [kind, id = ''] = origin.split(':');
      if (kind === 'key') return [origin, keys?.find((key) => String(key.id) === id)?.name ?? `Key ${id}`];
      if (kind !== 'member') return [origin, origin === 'system' ? 'The CRM' : 'An operator'];
      const member = members?.find((one) => String(one.id) === id);
      return [origin, member ? nameOfMember(member) : `Member ${id}`];
    }),
  );
};
