import { Link } from '@tanstack/react-router';
import { span } from '../ui/format.ts';
import { useNow } from '../ui/values.tsx';
import type { Answer } from './client.ts';
import { countText, type DeliverySearch } from './deliveries.ts';

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
