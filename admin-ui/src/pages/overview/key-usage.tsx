import type { UseQueryResult } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { KeyRound } from 'lucide-react';
import type { Answer } from '../../api/types.ts';
import { Card } from '../../ui/card.tsx';
import { Cut } from '../../ui/cut.tsx';
import { number } from '../../ui/format.ts';
import { Empty, Loaded, SkeletonLines } from '../../ui/states.tsx';
import s from './key-usage.module.css';
import { bucketLabels } from './usage-chart.tsx';

type Usage = Answer<'getUsage'>;
type KeyBucket = Usage['keys'][number]['buckets'][number];

/** Each key's busiest minute compared to its limit. */
export function KeyUsage({ usage }: { readonly usage: UseQueryResult<Usage> }) {
  return (
    <Card
      title="API keys and their limits"
      description="Each key’s busiest minute and its total requests."
      actions={<Link to="/keys">All keys</Link>}
    >
      <Loaded query={usage} skeleton={<SkeletonLines lines={6} />}>
        {({ keys }) =>
          keys.length === 0 ? (
            <Empty icon={<KeyRound />} title="No key used in this period" />
          ) : (
            <ul className={s.keys}>
              {keys.slice(0, 6).map((key) => (
                <li key={key.id}>
                  <p className={s.name}>
                    <Cut text={key.name} /> <code>{key.masked}</code>
                  </p>
                  {key.buckets.map((bucket) => (
                    <Bucket key={bucket.bucket} bucket={bucket} />
                  ))}
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </Card>
  );
}

function Bucket({ bucket }: { readonly bucket: KeyBucket }) {
  const { peakPerMinute, limitPerMinute, limited, answered } = bucket;
  const level = Math.min(peakPerMinute / limitPerMinute, 1);
  return (
    <div className={s.bucket}>
      <span>{bucketLabels[bucket.bucket]}</span>
      <span className={s.bar} aria-hidden="true">
        <span
          data-mark
          data-level={limited > 0 ? 'over' : level >= 0.8 ? 'near' : 'fine'}
          style={{ width: `${level * 100}%` }}
        />
      </span>
      <span className={s.value}>
        {number(peakPerMinute)} of {number(limitPerMinute)} a minute
        <small>
          {number(answered)} in total
          {limited > 0 && `, ${number(limited)} refused`}
        </small>
      </span>
    </div>
  );
}
