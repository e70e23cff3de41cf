import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
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
          <li>
            <strong>
              {plural(
                unverifiedCount,
                '# subscription waits for verification',
                '# subscriptions wait for verification',
              )}
            </strong>
            <Link to="/subscriptions" search={{ state: 'unverified' }}>
              View unverified
            </Link>
          </li>
        )}
        {undecided.subscriptions > 0 && <UndecidedItem {...undecided} />}
        {limited.length > 0 && <LimitedKeysItem keys={limited} />}
      </ul>
    </Notice>
  );
}

/** Incidents in the banner; the list has all. */
const mostShown = 5;

function OffItem({ offCount, off }: Attention) {
  const [first] = off;
  const only = offCount === 1 ? first : undefined;
  return (
    <li>
      <strong>{plural(offCount, '# subscription is off', '# subscriptions are off')}</strong>
      {only ? (
        <Link to="/subscriptions/$id" params={{ id: only.id }}>
          View
        </Link>
      ) : (
        <Link to="/subscriptions" search={{ state: 'off' }}>
          View
        </Link>
      )}
    </li>
  );
}

function UndecidedItem({ subscriptions, held, missed }: Attention['undecided']) {
  return (
    <li>
      <span>
        <strong>{plural(held + missed, '# delivery held or missed', '# deliveries held or missed')}</strong>{' '}
        of {plural(subscriptions, '# enabled subscription', '# enabled subscriptions')}, until you decide
      </span>
      <Link to="/subscriptions" search={{ state: 'undecided' }}>
        Decide
      </Link>
    </li>
  );
}

function LimitedKeysItem({ keys }: { readonly keys: readonly LimitedKey[] }) {
  const name = keys[0]?.name;
  const count = number(keys.length);
  const total = keys.reduce((sum, { limited }) => sum + limited, 0);
  return (
    <li>
      <span>
        <strong>
          {keys.length === 1 ? (
            <>
              <bdi>{name}</bdi> reached its rate limit
            </>
          ) : (
            `${count} API keys reached their rate limits`
          )}
        </strong>{' '}
        {plural(total, '(# request refused in the last hour)', '(# requests refused in the last hour)')}
      </span>
      <Link to="/usage" search={{ only: 'refused' }}>
        View requests
      </Link>
    </li>
  );
}
