import { useNavigate, useSearch } from '@tanstack/react-router';
import { RotateCcw } from 'lucide-react';
import { useDeferredValue } from 'react';
import { useRefusal } from '../../app/session.ts';
import { Button } from '../../ui/button.tsx';
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
  const view = search.view ?? 'log';
  // The tab is chosen at once, what it holds follows.
  const shown = useDeferredValue(view);
  const { dialog, ...filters } = search;
  return (
    <Page
      title="Deliveries"
      description="Each event is delivered to every subscription that asked for its type. What fails is tried again for about 15 hours."
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
