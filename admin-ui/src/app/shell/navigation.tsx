import { Link } from '@tanstack/react-router';
import { Logo } from '../logo.tsx';
import { roleAtLeast, useSession } from '../session.ts';
import s from './navigation.module.css';
import { pageGroups } from './pages.ts';

/** `plain` leaves out the company, for places that have a title. */
export function Navigation({ plain }: { readonly plain?: boolean }) {
  const { company, user } = useSession();
  return (
    <>
      {!plain && (
        <div className={s.company}>
          <Logo size={28} />
          <div>
            <p className={s.name} title={company.name}>
              {company.name}
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
                      className={s.link ?? ''}
                      activeOptions={{ exact: to === '/', includeSearch: false }}
                    >
                      <Icon size={16} />
                      {label}
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
}
