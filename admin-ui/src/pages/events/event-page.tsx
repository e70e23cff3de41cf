import { subjectOf } from '@causeway/proto/event-summary';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import type { Answer } from '../../model/client.ts';
import { deliveriesQuery } from '../../model/deliveries.ts';
import { DeliveryTable } from '../../model/delivery-table.tsx';
import { ErasePerson } from '../../model/erase-person.tsx';
import { eventQuery, eventTypesQuery } from '../../model/queries.ts';
import { titleOf, useNames } from '../../model/records.tsx';
import { useSession } from '../../model/session.ts';
import { CopyButton } from '../../ui/button.tsx';
import { CodeBlock } from '../../ui/code.tsx';
import { BackLink, Card, Facts, Page, Row, Split } from '../../ui/layout.tsx';
import { Empty, Loaded, Notice } from '../../ui/states.tsx';
import { Badge, Moment, TimeAgo } from '../../ui/values.tsx';

export function EventPage() {
  const { id } = useParams({ from: '/in/events/$id' });
  const { role } = useSession().user;
  const query = useQuery(eventQuery(id));
  const types = useQuery(eventTypesQuery);
  const type = query.data?.type;
  const subject = query.data ? subjectOf(query.data.payload) : null;
  const names = useNames([subject]);
  const described = types.data?.eventTypes.find((one) => one.type === type);
  return (
    <Page
      title={subject ? titleOf(subject, names) : `Event ${id}`}
      kind={`Event ${id}`}
      oneLine
      badge={type && <Badge mono>{type}</Badge>}
      // The line is there while its text loads.
      description={described?.description ?? '\u00a0'}
      back={<BackLink to="/events">Events</BackLink>}
    >
      <Loaded query={query}>
        {(event) => (
          <Split
            aside={
              <Card title="About">
                <Facts
                  columns={8}
                  facts={{
                    Number: (
                      <>
                        <code>{event.id}</code>{' '}
                        <CopyButton value={String(event.id)} label="Copy event number" />
                      </>
                    ),
                    'Event time': (
                      <>
                        <Moment time={event.createdUtc} /> (<TimeAgo time={event.createdUtc} />)
                      </>
                    ),
                    Record: personOf(event),
                  }}
                />
              </Card>
            }
          >
            <Card title="Payload">
              {event.payload.erased === true && (
                <Notice tone="info">The person was erased, and the payload with it.</Notice>
              )}
              {role === 'viewer' && <Notice tone="info">Personal data is hidden from your role.</Notice>}
              <CodeBlock
                code={JSON.stringify(event.payload, null, 2)}
                language="json"
                label="payload"
                maxLines={30}
              />
            </Card>
            <Deliveries id={id} />
          </Split>
        )}
      </Loaded>
    </Page>
  );
}

const personOf = ({ id: eventId, payload: { client_id: id, erased } }: Answer<'getPortalEvent'>) =>
  typeof id === 'number' &&
  erased !== true && (
    <Row>
      <Link to="/clients/$id" params={{ id }}>
        Everything about client {id}
      </Link>
      <ErasePerson id={id} eventId={eventId} />
    </Row>
  );

function Deliveries({ id }: { readonly id: number }) {
  const query = useQuery({ ...deliveriesQuery({ event: id }), refetchInterval: 5000 });
  return (
    <Card flush title="Deliveries">
      <DeliveryTable
        query={query}
        without="event"
        emptyState={
          <Empty title="No deliveries">
            No enabled subscription received this event type when the event occurred.
          </Empty>
        }
      />
    </Card>
  );
}
