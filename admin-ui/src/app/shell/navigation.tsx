import { Link } from '@tanstack/react-router';
import { memo } from 'react';
import { Cut } from '../../ui/cut.tsx';
import { number } from '../../ui/format.ts';
import { useAttention, useLimitedKeys } from '../attention.ts';
import { Logo } from '../logo.tsx';
import { roleAtLeast, useSession } from '../session.ts';
import s from './navigation.module.css';
import { pageGroups } from './pages.ts';

/** `plain` leaves out the company, for places that have a title. */
export const Navigation = memo(function Navigation({ plain }: { readonly plain?: boolean }) {
  const { company, user } = useSession();
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
        {pageGroups.map((group) => {
          const links = group.links.filter((link) => roleAtLeast(user.role, link.least));
          return (
            <div key={group.label ?? ''} className={s.group}>
              {group.label !== null && <p className={s.label}>{group.label}</p>}
              <ul>
                {links.map(({ to, label, icon: Icon }) => (
                  <li key={to}>
                    <Link
                      to={to}
                      search={to === '/keys' && counts[to] ? { show: 'limited' } : {}}
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
          );
        })}
      </nav>
    </>
  );
});

/** By page: how many of its entries need attention. */
const useCounts = (): Readonly<Record<string, number>> => {
  const attention = useAttention();
  const limited = useLimitedKeys();
  return {
    '/subscriptions': attention ? attention.offCount + attention.failingCount + attention.unverifiedCount : 0,
    '/keys': limited.length,
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
