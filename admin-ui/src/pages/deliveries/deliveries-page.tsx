import { failuresUntilDisabled, failuresUntilProbing } from '@causeway/proto/delivery-states';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { RotateCcw } from 'lucide-react';
import { useDeferredValue } from 'react';
import { useRefusal, useSession } from '../../app/session.ts';
import { Button } from '../../ui/button.tsx';
import { span } from '../../ui/format.ts';
import { Page } from '../../ui/page.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { ReplayDialog } from '../replays/replay-dialog.tsx';
import { ReplayList } from '../replays/replay-list.tsx';
import { DeliveryLog } from './delivery-log.tsx';
import { LiveTail } from './live-tail.tsx';

export function DeliveriesPage() {
  const search = useSearch({ from: '/in/deliveries' });
  const navigate = useNavigate({ from: '/deliveries' });
  const refusal = useRefusal('developer');
  const { settings } = useSession();
  const view = search.view ?? 'log';
  // The tab switches at once; its content follows.
  const shown = useDeferredValue(view);
  const { dialog, ...filters } = search;
  return (
    <Page
      title="Deliveries"
      description={`Each event is delivered to every subscription to its type. Failed deliveries are retried for about ${span(settings.retryForMs)}. After ${failuresUntilProbing} failures in a row an endpoint gets one attempt at a time, with growing pauses; after ${failuresUntilDisabled} its subscription is disabled and its deliveries are held.`}
      actions={
        <Button
          icon={<RotateCcw />}
          disabledReason={refusal}
          onClick={() => void navigate({ search: { ...search, dialog: 'replay' } })}
        >
          Replay…
        </Button>
      }
    >
      <Tabs
        label="Views"
        value={view}
        onChange={(next) => void navigate({ search: next === 'log' ? {} : { view: next } })}
        tabs={[
          { id: 'log', label: 'Log' },
          { id: 'live', label: 'Live' },
          { id: 'replays', label: 'Replays' },
        ]}
      >
        {shown === 'log' && <DeliveryLog />}
        {shown === 'live' && <LiveTail />}
        {shown === 'replays' && <ReplayList cursor={search.cursor} />}
      </Tabs>
      {dialog === 'replay' && refusal === undefined && (
        <ReplayDialog filters={filters} onClose={() => void navigate({ search: filters, replace: true })} />
      )}
    </Page>
  );
}
