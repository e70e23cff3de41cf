import { useQueryClient } from '@tanstack/react-query';
import { subscriptionQuery, subscriptionsQuery } from '../queries.ts';
import type { Subscription } from './state.ts';

/** Updates the cache after a subscription changed. */
export const useSubscriptionCache = () => {
  const queryClient = useQueryClient();
  return {
    changed: (subscription: Subscription): void => {
      queryClient.setQueryData(subscriptionQuery(subscription.id).queryKey, subscription);
      void queryClient.invalidateQueries({ queryKey: subscriptionsQuery.queryKey });
      void queryClient.invalidateQueries({ queryKey: ['listDeliveries'] });
    },
    deleted: (id: number): void => {
      queryClient.removeQueries({ queryKey: subscriptionQuery(id).queryKey });
      void queryClient.invalidateQueries({ queryKey: subscriptionsQuery.queryKey });
    },
  };
};
