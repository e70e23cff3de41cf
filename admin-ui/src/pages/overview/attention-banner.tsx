import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { type Attention, type LimitedKey, useAttention, useLimitedKeys } from '../../model/attention.ts';
import { IncidentFacts, incidentsQuery } from '../../model/incidents.tsx';
import { SubscriptionLink, useSubscriptionNames } from '../../model/subscription-link.tsx';
import { number, plural } from '../../ui/format.ts';
import { Notice } from '../../ui/states.tsx';
import s from './attention-banner.module.css';

export function AttentionBanner() {
  const attention = useAttention();
  const limited = useLimitedKeys();
  const incidents = useQuery(incidentsQuery()).data?.incidents ?? [];
  const names = useSubscriptionNames();
  if (!attention) return null;
  const { offCount, unverifiedCount, undecided } = attention;
  const broken = offCount + incidents.length;
  if (broken + unverifiedCount + undecided.subscriptions + limited.length === 0) return null;
  return (
    <Notice tone={broken > 0 ? 'bad' : 'warn'}>
      <ul className={s.list}>
        {offCount > 0 && <OffItem {...attention} />}
        {incidents.slice(0, mostShown).map((incident) => (
          <li key={incident.id}>
            <span>
              <SubscriptionLink
                id={incident.subscriptionId}
                name={names.get(incident.subscriptionId)}
                strong
              />
              : <IncidentFacts incident={incident} />
            </span>
          </li>
        ))}
        {incidents.length > mostShown && (
          <li>
            <Link to="/subscriptions" search={{ state: 'failing' }}>
              {plural(
                incidents.length - mostShown,
                '# more receiver is broken',
                '# more receivers are broken',
              )}
            </Link>
          </li>
        )}
        {unverifiedCount > 0 && (
          <Item
            what={plural(
              unverifiedCount,
              '# subscription waits for verification',
              '# subscriptions wait for verification',
            )}
          >
            <Link to="/subscriptions" search={{ state: 'unverified' }}>
              View unverified
            </Link>
          </Item>
        )}
        {undecided.subscriptions > 0 && (
          <Item
            what={`${plural(
              undecided.held + undecided.missed,
              '# delivery held or missed',
              '# deliveries held or missed',
            )} of ${plural(undecided.subscriptions, '# enabled subscription', '# enabled subscriptions')}`}
          >
            <Link to="/subscriptions" search={{ state: 'undecided' }}>
              Decide
            </Link>
          </Item>
        )}
        {limited.length > 0 && <LimitedKeysItem keys={limited} />}
      </ul>
    </Notice>
  );
}

/** Incidents in the banner; the list has all. */
const mostShown = 5;

const Item = ({ what, children }: { readonly what: ReactNode; readonly children: ReactNode }) => (
  <li>
    <strong>{what}</strong>
    {children}
  </li>
);

function OffItem({ offCount, off }: Attention) {
  const [first] = off;
  return (
    <Item what={plural(offCount, '# subscription is off', '# subscriptions are off')}>
      {first && offCount === 1 ? (
        <Link to="/subscriptions/$id" params={{ id: first.id }}>
          View
        </Link>
      ) : (
        <Link to="/subscriptions" search={{ state: 'off' }}>
          View
        </Link>
      )}
    </Item>
  );
}

function LimitedKeysItem({ keys }: { readonly keys: readonly LimitedKey[] }) {
  const total = keys.reduce((sum, { limited }) => sum + limited, 0);
  const refused = plural(
    total,
    '(# request refused in the last hour)',
    '(# requests refused in the last hour)',
  );
  return (
    <Item
      what={
        keys.length === 1 ? (
          <>
            <bdi>{keys[0]?.name}</bdi> reached its rate limit {refused}
          </>
        ) : (
          `${number(keys.length)} API keys reached their rate limits ${refused}`
        )
      }
    >
      <Link to="/usage" search={{ only: 'refused' }}>
        View requests
      </Link>
    </Item>
  );
}
