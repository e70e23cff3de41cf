import { KeyRound } from 'lucide-react';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Facts, Row, Stack } from '../../ui/layout.tsx';
import { Moment, TimeAgo } from '../../ui/time-ago.tsx';
import type { Subscription } from './state.ts';

interface SubscriptionFactsProps {
  readonly subscription: Subscription;
  /** Why the secret cannot be rotated. */
  readonly refusal: string | undefined;
  readonly onRotate: () => void;
}

/** The settings and the signing secret. */
export function SubscriptionFacts({ subscription, refusal, onRotate }: SubscriptionFactsProps) {
  const until = subscription.previousSecretUntilUtc;
  return (
    <>
      <Card title="Settings">
        <Stack>
          <Facts
            columns={16}
            facts={[
              {
                label: 'URL',
                value: (
                  <Row gap="xs" nowrap align="flex-start" justify="space-between">
                    <code>{subscription.url}</code>
                    <CopyButton value={subscription.url} label="Copy URL" />
                  </Row>
                ),
              },
              {
                label: 'Events',
                value: (
                  <Row gap="xs">
                    {subscription.eventTypes.map((type) => (
                      <Badge key={type} mono>
                        {type}
                      </Badge>
                    ))}
                  </Row>
                ),
              },
              subscription.description === null
                ? null
                : { label: 'Description', value: subscription.description },
              subscription.managedBy === null
                ? null
                : { label: 'Managed by', value: <Badge tone="info">{subscription.managedBy}</Badge> },
              { label: 'Created', value: <Moment time={subscription.createdUtc} /> },
              { label: 'Changed', value: <TimeAgo time={subscription.updatedUtc} /> },
            ]}
          />
        </Stack>
      </Card>
      <Card title="Signing secret">
        <Stack gap="s">
          <p>
            {until === null ? (
              'Signs every delivery. It cannot be shown again.'
            ) : (
              <>
                Deliveries carry the signatures of the new and the old secret until <Moment time={until} />.
              </>
            )}
          </p>
          <div>
            <Button size="s" icon={<KeyRound />} disabledReason={refusal} onClick={onRotate}>
              Rotate secret…
            </Button>
          </div>
        </Stack>
      </Card>
    </>
  );
}
