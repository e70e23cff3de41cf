import { Link, useRouter } from '@tanstack/react-router';
import { memo } from 'react';
import { useAttention, useLimitedKeys } from '../../model/attention.ts';
import { Logo } from '../../model/public-frame.tsx';
import type { PageLink } from '../../model/routes.ts';
import { roleAtLeast, useSession } from '../../model/session.ts';
import { number } from '../../ui/format.ts';
import { Cut } from '../../ui/values.tsx';
import s from './navigation.module.css';

/** `plain` leaves out the company, for places that have a title. */
export const Navigation = memo(function Navigation({ plain }: { readonly plain?: boolean }) {
  const { company } = useSession();
  const counts = useCounts();
  return (
    <>
      {!plain && (
        <div className={s.company}>
          <Logo size={28} />
          <div>
            <p className={s.name}>
              <Cut text={company.name} />
            </p>
            <p className={s.product}>Causeway</p>
          </div>
        </div>
      )}
      <nav aria-label="Main" className={s.nav}>
        {[...Map.groupBy(useLinkedPages(), ({ group }) => group)].map(([group, pages]) => (
          <div key={group ?? ''} className={s.group}>
            {group !== undefined && <p className={s.label}>{group}</p>}
            <ul>
              {pages.map(({ to, label, icon: Icon }) => (
                <li key={to}>
                  <Link
                    to={to}
                    search={to === '/usage' && counts[to] ? { only: 'refused' } : {}}
                    className={s.link ?? ''}
                    activeOptions={{ exact: to === '/', includeSearch: false }}
                  >
                    <Icon size={16} />
                    <span className={s.text}>{label}</span>
                    <Count count={counts[to] ?? 0} />
                  </Link>
                </li>
              ))}
            </ul>
          </div>
        ))}
      </nav>
    </>
  );
});

const useCounts = (): Readonly<Record<string, number>> => {
  const attention = useAttention();
  const limited = useLimitedKeys();
  return {
    '/subscriptions': attention ? attention.offCount + attention.failingCount + attention.unverifiedCount : 0,
    '/usage': limited.length,
  };
};

function Count({ count }: { readonly count: number }) {
  if (count === 0) return null;
  return (
    <span className={s.count}>
      {number(count)}
      <span className="visually-hidden"> need attention</span>
    </span>
  );
}

interface LinkedPage extends PageLink {
  readonly to: string;
}

export const useLinkedPages = (): readonly LinkedPage[] => {
  const router = useRouter();
  const { role } = useSession().user;
  return Object.values(router.routesById).flatMap(({ fullPath, options: { staticData } }) => {
    const link = staticData?.link;
    if (!link || !roleAtLeast(role, link.least)) return [];
    return [{ ...link, to: fullPath }];
  });
};
