import type { EventSubject } from '@causeway/proto';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { AtSign, CalendarDays, Hash, Receipt, Send, User } from 'lucide-react';
import { type ReactNode, useMemo } from 'react';
import { useDebounced } from '../ui/toolbar.tsx';
import { operationQuery } from './client.ts';
import type { DeliveryName } from './deliveries.ts';
import { useSession } from './session.ts';

export type Subject = EventSubject;

/** "Łukasz Hopper · client 3617". @param names of clients, which most payloads do not have. */
export const titleOf = (subject: Subject, names: ReadonlyMap<number, string>): string => {
  const name = nameOf(subject, names);
  const own = numberOf(subject);
  return name ? `${name} · ${own}` : `${own[0]?.toUpperCase()}${own.slice(1)}`;
};

export const nameOf = ({ kind, id, name }: Subject, names: ReadonlyMap<number, string>): string | null =>
  (kind === 'client' ? names.get(id) : undefined) ?? name;

export const numberOf = ({ kind, id }: Subject): string =>
  ({ client: `client ${id}`, affiliate: `affiliate ${id}`, invoice: `invoice ${id}` })[kind];

/** Of clients; empty for viewers, from whom names are hidden. */
export const useNames = (subjects: readonly (Subject | null)[]): ReadonlyMap<number, string> => {
  const { role } = useSession().user;
  const clients = subjects.flatMap((subject) => (subject?.kind === 'client' ? subject.id : []));
  const ids = [...new Set(clients)].sort((a, b) => a - b).slice(0, 100);
  const { data } = useQuery({
    ...operationQuery('listPortalPeople', { query: { ids: ids.join() } }),
    enabled: ids.length > 0 && role !== 'viewer',
    placeholderData: keepPreviousData,
    staleTime: 60_000,
  });
  return useMemo(
    () => new Map(data?.people.flatMap(({ id, name }) => (name === null ? [] : [[id, name]]))),
    [data],
  );
};

/** Which events, or which page, something that was found leads to. */
export type Target =
  | { readonly client: number }
  | { readonly invoice: number }
  | { readonly email: string }
  | { readonly external: string }
  | { readonly event: number }
  | { readonly delivery: DeliveryName };

export const isPage = (target: Target) => 'event' in target || 'delivery' in target;

export const placeOf = (target: Target) => {
  if ('event' in target) return { to: '/events/$id', params: { id: target.event } } as const;
  if ('delivery' in target)
    return { to: '/deliveries/$event/$subscription/$replay', params: target.delivery } as const;
  if ('client' in target) return { to: '/clients/$id', params: { id: target.client } } as const;
  return { to: '/events', search: target } as const;
};

export interface Found {
  readonly id: string;
  readonly label: string;
  readonly kind: string;
  readonly icon: ReactNode;
  readonly target: Target;
}

const waitMs = 200;

/**
 * What a text may name: people, a client, an invoice or an event by its number, a delivery by its three numbers, and
 * what payloads hold.
 */
export const useFound = (text: string): { readonly found: readonly Found[]; readonly isPending: boolean } => {
  const q = text.trim();
  const asked = useDebounced(q, waitMs);
  const people = useQuery({
    ...operationQuery('listPortalPeople', { query: { q: asked } }),
    enabled: asked !== '',
    placeholderData: keepPreviousData,
  });
  if (q === '') return { found: [], isPending: false };
  const persons = (asked === '' ? [] : (people.data?.people ?? [])).map(({ id, name, email }) => {
    const label = `${titleOf({ kind: 'client', id, name }, new Map())}${email ? ` · ${email}` : ''}`;
    return found('Client', <User />, label, { client: id });
  });
  const known = new Set(persons.map(({ target }) => JSON.stringify(target)));
  return {
    found: [...persons, ...named(q).filter(({ target }) => !known.has(JSON.stringify(target)))],
    isPending: asked !== q || people.isFetching,
  };
};

const named = (q: string): readonly Found[] => {
  const [, invoice, first, subscription, replay] =
    /^(inv(?:oice)?[-_ #]*)?#?(\d{1,15})(?:-(\d{1,15})-(\d{1,15}))?$/i.exec(q) ?? [];
  const id = Number(first);
  if (invoice !== undefined && id > 0)
    return [found('Invoice', <Receipt />, `Invoice ${id}`, { invoice: id })];
  if (subscription !== undefined && id > 0) {
    const delivery = { event: id, subscription: Number(subscription), replay: Number(replay) };
    return [found('Delivery', <Send />, `Delivery ${q}`, { delivery })];
  }
  return [
    ...(id > 0
      ? [
          found('Event', <CalendarDays />, `Event ${id}`, { event: id }),
          found('Client', <User />, `Client ${id}`, { client: id }),
          found('Invoice', <Receipt />, `Invoice ${id}`, { invoice: id }),
        ]
      : []),
    ...(q.includes('@') ? [found('Events', <AtSign />, `Email ${q}`, { email: q })] : []),
    // An external id has no blank by far most often; a name has one.
    ...(/^\S{2,100}$/.test(q) ? [found('Events', <Hash />, `External ID ${q}`, { external: q })] : []),
  ];
};

const found = (kind: string, icon: ReactNode, label: string, target: Target): Found => ({
  ...{ id: JSON.stringify(target), kind, icon, label, target },
});
