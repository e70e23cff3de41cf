import { useQuery } from '@tanstack/react-query';
import { type Answer, operationQuery } from './client.ts';

export type Attention = Answer<'getAttention'>;

export const attentionQuery = { ...operationQuery('getAttention', {}), refetchInterval: 30_000 };
export const lastHourQuery = {
  ...operationQuery('getUsage', { query: { range: '1h' } }),
  refetchInterval: 60_000,
};

export const useAttention = (): Attention | undefined => useQuery(attentionQuery).data;

export interface LimitedKey {
  readonly id: number;
  readonly name: string;
  readonly limited: number;
}

export const useLimitedKeys = (): readonly LimitedKey[] => {
  const keys = useQuery(lastHourQuery).data?.keys ?? [];
  return keys
    .map(({ id, name, buckets }) => ({
      id,
      name,
      limited: buckets.reduce((sum, one) => sum + one.limited, 0),
    }))
    .filter(({ limited }) => limited > 0);
};
