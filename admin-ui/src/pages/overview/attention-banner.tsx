import { plural, t } from '@lingui/core/macro';
import { Plural, Trans } from '@lingui/react/macro';
import { Link } from '@tanstack/react-router';
import {
  type Attention,
  type LimitedKey,
  useAttention,
  useLimitedKeys,
  useMissedWhileOff,
} from '../../app/attention.ts';
import { useRefusal } from '../../app/session.ts';
import { number } from '../../ui/format.ts';
import { Notice } from '../../ui/states.tsx';
import s from './attention-banner.module.css';

export function AttentionBanner() {
  const attention = useAttention();
  const limited = useLimitedKeys();
  if (!attention) return null;
  const { offCount, failingCount, unverifiedCount, undecided } = attention;
  if (offCount + failingCount + unverifiedCount + undecided.subscriptions + limited.length === 0) return null;
  return (
    <Notice tone={offCount > 0 ? 'bad' : 'warn'}>
      <ul className={s.list}>
        {offCount > 0 && <OffItem attention={attention} />}
        {failingCount > 0 && (
          <li>
            <span>
              <Plural
                value={failingCount}
                one={
                  <Trans>
                    <strong># subscription is failing</strong> and will be disabled if no attempt succeeds
                  </Trans>
                }
                other={
                  <Trans>
                    <strong># subscriptions are failing</strong> and will be disabled if no attempt succeeds
                  </Trans>
                }
              />
            </span>
            <Link to="/subscriptions" search={{ state: 'failing' }}>
              {t`View failing`}
            </Link>
          </li>
        )}
        {unverifiedCount > 0 && (
          <li>
            <strong>
              <Plural
                value={unverifiedCount}
                one="# subscription waits for verification"
                other="# subscriptions wait for verification"
              />
            </strong>
            <Link to="/subscriptions" search={{ state: 'unverified' }}>
              {t`View unverified`}
            </Link>
          </li>
        )}
        {undecided.subscriptions > 0 && <UndecidedItem {...undecided} />}
        {limited.length > 0 && <LimitedKeysItem keys={limited} />}
      </ul>
    </Notice>
  );
}

const missedText = ({ count, more }: { readonly count: number; readonly more: boolean }): string =>
  more
    ? plural(count, { one: 'at least # event missed', other: 'at least # events missed' })
    : plural(count, { one: '# event missed', other: '# events missed' });

function OffItem({ attention: { offCount, off } }: { readonly attention: Attention }) {
  const missed = useMissedWhileOff(off);
  const refusal = useRefusal('developer');
  const label = refusal === undefined ? t`Repair` : t`View`;
  const [first] = off;
  return (
    <li>
      <strong>
        <Plural value={offCount} one="# subscription is off" other="# subscriptions are off" />
        {missed === undefined ? t`, … events missed` : missed.count > 0 && <>, {missedText(missed)}</>}
      </strong>
      {offCount === 1 && first ? (
        <Link
          to="/subscriptions/$id"
          params={{ id: first.id }}
          search={refusal === undefined ? { dialog: 'repair' } : {}}
        >
          {label}
        </Link>
      ) : (
        <Link to="/subscriptions" search={{ state: 'off' }}>
          {label}
        </Link>
      )}
    </li>
  );
}

function UndecidedItem({ subscriptions, held, missed, firstId }: Attention['undecided']) {
  const what = [
    ...(held > 0 ? [plural(held, { one: '# delivery held', other: '# deliveries held' })] : []),
    ...(missed > 0 ? [missedText({ count: missed, more: false })] : []),
  ].join(t` and `);
  return (
    <li>
      <span>
        <Trans>
          <strong>{what}</strong> of{' '}
          <Plural value={subscriptions} one="# enabled subscription" other="# enabled subscriptions" />, until
          you decide about them
        </Trans>
      </span>
      {subscriptions === 1 && firstId !== null ? (
        <Link to="/subscriptions/$id" params={{ id: firstId }}>
          {t`Decide`}
        </Link>
      ) : (
        <Link to="/subscriptions" search={{ state: 'undecided' }}>
          {t`Decide`}
        </Link>
      )}
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
            <Trans>
              <bdi>{name}</bdi> reached its rate limit
            </Trans>
          ) : (
            t`${count} API keys reached their rate limits`
          )}
        </strong>{' '}
        <Plural
          value={total}
          one="(# request refused in the last hour)"
          other="(# requests refused in the last hour)"
        />
      </span>
      <Link to="/keys" search={{ show: 'limited' }}>
        {t`View keys`}
      </Link>
    </li>
  );
}
