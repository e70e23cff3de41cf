import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Card } from '../../ui/card.tsx';
import { Empty, OrError } from '../../ui/states.tsx';
import { DeliveryTable } from '../deliveries/delivery-table.tsx';
import { deliveriesQuery } from '../deliveries/queries.ts';

export function RecentDeliveries({ subscriptionId }: { readonly subscriptionId: number }) {
  const query = useQuery({
    ...deliveriesQuery({ subscription: subscriptionId }, 8),
    refetchInterval: 15_000,
  });
  return (
    <Card
      flush
      title="Latest deliveries"
      actions={
        <Link to="/deliveries" search={{ subscription: subscriptionId }}>
          All deliveries
        </Link>
      }
    >
      <OrError query={query}>
        <DeliveryTable
          deliveries={query.data?.deliveries}
          without="subscription"
          emptyState={
            <Empty title="No deliveries yet">
              The next matching event is delivered here. To try it now, send a test delivery.
            </Empty>
          }
        />
      </OrError>
    </Card>
  );
}
