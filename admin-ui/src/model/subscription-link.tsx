import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { Quiet } from '../ui/layout.tsx';
import { Cut } from '../ui/values.tsx';
import { subscriptionsQuery } from './queries.ts';
import { nameOf } from './subscriptions.ts';

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
