import { useQuery } from '@tanstack/react-query';
import { Link, type LinkProps } from '@tanstack/react-router';
import { useAttention, useLimitedKeys } from '../../model/attention.ts';
import { IncidentFacts, incidentsQuery } from '../../model/incidents.tsx';
import { SubscriptionLink, useSubscriptionNames } from '../../model/subscription-links.tsx';
import { plural } from '../../ui/format.ts';
import { Notice } from '../../ui/states.tsx';
import s from './attention-banner.module.css';

interface Item {
  readonly count: number;
  readonly what: string;
  readonly link: string;
  readonly to: LinkProps;
}

export function AttentionBanner() {
  const attention = useAttention();
  const limited = useLimitedKeys();
  const incidents = useQuery(incidentsQuery()).data?.incidents ?? [];
  const names = useSubscriptionNames();
  if (!attention) return null;
  const { offCount, onlyOffId, unverifiedCount, undecided } = attention;
  const subscriptions = (state: 'off' | 'failing' | 'unverified' | 'undecided'): LinkProps => ({
    ...{ to: '/subscriptions', search: { state } },
  });
  const offItem: Item = {
    count: offCount,
    what: plural(offCount, '# subscription is off', '# subscriptions are off'),
    link: 'View',
    to: onlyOffId === null ? subscriptions('off') : { to: '/subscriptions/$id', params: { id: onlyOffId } },
  };
  const more = incidents.length - mostShown;
  const others: readonly Item[] = [
    {
      count: more,
      what: plural(more, '# more receiver is broken', '# more receivers are broken'),
      link: 'View',
      to: subscriptions('failing'),
    },
    {
      count: unverifiedCount,
      what: plural(
        unverifiedCount,
        '# subscription waits for verification',
        '# subscriptions wait for verification',
      ),
      link: 'View unverified',
      to: subscriptions('unverified'),
    },
    {
      count: undecided.subscriptions,
      what: `${plural(
        undecided.held + undecided.missed,
        '# delivery held or missed',
        '# deliveries held or missed',
      )} of ${plural(undecided.subscriptions, '# enabled subscription')}`,
      link: 'Decide',
      to: subscriptions('undecided'),
    },
    {
      count: limited.length,
      what: `${
        limited.length === 1
          ? `${limited[0]?.name} reached its rate limit`
          : plural(limited.length, '# API key reached its rate limit', '# API keys reached their rate limits')
      } ${plural(
        limited.reduce((sum, one) => sum + one.limited, 0),
        '(# request refused in the last hour)',
        '(# requests refused in the last hour)',
      )}`,
      link: 'View requests',
      to: { to: '/usage', search: { only: 'refused' } },
    },
  ];
  const broken = offCount + incidents.length;
  if (broken === 0 && others.every(({ count }) => count <= 0)) return null;
  return (
    <Notice tone={broken > 0 ? 'bad' : 'warn'}>
      <ul className={s.list}>
        <ItemLine {...offItem} />
        {incidents.slice(0, mostShown).map((incident) => (
          <li key={incident.id}>
            <span>
              <SubscriptionLink
                id={incident.subscriptionId}
                name={names.get(incident.subscriptionId)}
                strong
              />
              <span className={s.colon}>: </span>
              <IncidentFacts incident={incident} />
            </span>
          </li>
        ))}
        {others.map((item) => (
          <ItemLine key={item.link} {...item} />
        ))}
      </ul>
    </Notice>
  );
}

/** Incidents in the banner; the list has all. */
const mostShown = 5;

const ItemLine = ({ count, what, link, to }: Item) =>
  count > 0 && (
    <li>
      <strong dir="auto">{what}</strong>
      <Link {...to}>{link}</Link>
    </li>
  );
