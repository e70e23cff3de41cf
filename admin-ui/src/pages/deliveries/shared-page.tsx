import { useQuery } from '@tanstack/react-query';
import { useLocation } from '@tanstack/react-router';
import { useState } from 'react';
import { AttemptView } from '../../model/attempt-view.tsx';
import { operationQuery } from '../../model/client.ts';
import { stateOf } from '../../model/deliveries.ts';
import { Logo, PublicFrame } from '../../model/public-frame.tsx';
import { ApiError } from '../../ui/errors.ts';
import { Card, Facts, Page, SkeletonCard, Stack } from '../../ui/layout.tsx';
import { Loaded, Notice } from '../../ui/states.tsx';
import { Badge, Moment, StateBadge, TimeAgo } from '../../ui/values.tsx';
import { Timeline } from './attempt-timeline.tsx';
import s from './shared-page.module.css';

/** A delivery for somebody with a link and without a session. The token is in the fragment, which no server sees. */
export function SharedPage() {
  const token = useLocation({ select: (location) => location.hash });
  const [chosen, setChosen] = useState<number>();
  const query = useQuery({
    ...operationQuery('getSharedDelivery', {
      body: { token, ...(chosen === undefined ? {} : { attempt: chosen }) },
    }),
    retry: false,
    placeholderData: (before) => before,
  });
  if (query.error instanceof ApiError && query.error.status === 404)
    return (
      <PublicFrame title="Shared delivery">
        <Notice tone="warn" title="This link does not work">
          It has expired or was revoked, or the delivery is no longer kept. Ask for a new link.
        </Notice>
      </PublicFrame>
    );
  return (
    <main className={s.frame}>
      <Loaded query={query} skeleton={<SkeletonCard lines={16} />}>
        {({ delivery, attempt, expiresUtc }) => (
          <Page
            title={`Delivery ${delivery.id}`}
            back={<Logo size={28} />}
            badge={
              <>
                <Badge mono>{delivery.eventType}</Badge> <StateBadge {...stateOf(delivery)} />
              </>
            }
            description={
              <>
                Shared for support, with personal data hidden. The link ends <TimeAgo time={expiresUtc} />
              </>
            }
          >
            <Stack>
              <Card>
                <Facts
                  columns={10}
                  facts={{
                    Event: delivery.eventId,
                    'Event time': <Moment time={delivery.eventCreatedUtc} />,
                    URL: <code>{delivery.subscription?.url ?? 'Deleted'}</code>,
                  }}
                />
              </Card>
              <Card title="Attempts">
                <Timeline history={delivery.history} chosen={attempt?.attempt} onChoose={setChosen} />
              </Card>
              {attempt && (
                <Card title={`Attempt ${attempt.attempt}`}>
                  <AttemptView attempt={attempt} when={<Moment time={attempt.startedUtc} />} />
                </Card>
              )}
            </Stack>
          </Page>
        )}
      </Loaded>
    </main>
  );
}
