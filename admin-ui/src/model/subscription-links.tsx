import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { span } from '../ui/format.ts';
import { Quiet } from '../ui/layout.tsx';
import { Cut, useNow } from '../ui/values.tsx';
import type { Answer } from './client.ts';
import { countText, type DeliverySearch } from './deliveries.ts';
import { subscriptionsQuery } from './queries.ts';
import { nameOf } from './subscriptions.ts';

interface UndeliveredLinkProps {
  readonly undelivered: Pick<Answer<'countDeliveries'>['undelivered'], 'count' | 'isMore' | 'oldestUtc'>;
  /** Of which deliveries. */
  readonly search?: DeliverySearch;
}

/** What should have arrived and has not: how many, and for how long. */
export function UndeliveredLink({ undelivered, search = {} }: UndeliveredLinkProps) {
  const { oldestUtc } = undelivered;
  const now = useNow();
  const age = oldestUtc === null ? 0 : Math.max(0, now - Date.parse(oldestUtc));
  return (
    <Link to="/deliveries" search={{ ...search, state: 'undelivered' }}>
      {countText(undelivered)} not yet, oldest {span(age)}
    </Link>
  );
}

interface SubscriptionLinkProps {
  readonly id: number;
  /** Undefined if it was deleted. */
  readonly name: string | undefined;
  readonly strong?: boolean;
}

export const SubscriptionLink = ({ id, name, strong = false }: SubscriptionLinkProps) =>
  name === undefined ? (
    <Quiet>Deleted (no. {id})</Quiet>
  ) : (
    <Link to="/subscriptions/$id" params={{ id }}>
      <Cut strong={strong} text={name} />
    </Link>
  );

export const useSubscriptionNames = (): ReadonlyMap<number, string> => {
  const { data } = useQuery(subscriptionsQuery);
  return useMemo(() => new Map(data?.subscriptions.map((one) => [one.id, nameOf(one)])), [data]);
};
