import { Building2 } from 'lucide-react';
import { useState } from 'react';
import type { Session } from '../../app/session.ts';
import { CompanyCode, type OtherCompany, useSwitchCompany } from '../../app/switch-company.tsx';
import { errorText } from '../../errors.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Stack } from '../../ui/layout.tsx';
import { Notice } from '../../ui/notice.tsx';
import s from './choose-company.module.css';

interface ChooseCompanyProps {
  readonly session: Session;
  readonly onDone: (session: Session) => void;
}

/** Shown after a sign-in to several companies. The company used last comes first. */
export function ChooseCompany({ session, onDone }: ChooseCompanyProps) {
  const [asked, setAsked] = useState<OtherCompany | null>(null);
  const change = useSwitchCompany(onDone);
  if (asked) return <CompanyCode company={asked} onDone={onDone} onBack={() => setAsked(null)} />;
  const { company, user, otherCompanies } = session;
  return (
    <Stack>
      <ul className={s.list} aria-label="Your companies">
        <li>
          <Company name={company.name} role={user.role} first onChoose={() => onDone(session)} />
        </li>
        {otherCompanies.map((one) => (
          <li key={one.id}>
            <Company
              name={one.name}
              role={one.role}
              note={one.codeRequired ? 'Code required' : undefined}
              pending={change.isPending && change.variables === one.id}
              onChoose={() => (one.codeRequired ? setAsked(one) : change.mutate(one.id))}
            />
          </li>
        ))}
      </ul>
      {change.error && <Notice tone="bad">{errorText(change.error)}</Notice>}
    </Stack>
  );
}

interface CompanyProps {
  readonly name: string;
  readonly role: string;
  readonly note?: string | undefined;
  readonly first?: boolean;
  readonly pending?: boolean;
  readonly onChoose: () => void;
}

function Company({ name, role, note, first, pending, onChoose }: CompanyProps) {
  return (
    <Button
      wide
      variant={first ? 'primary' : 'secondary'}
      tip={name}
      icon={<Building2 />}
      pending={pending ?? false}
      autoFocus={first}
      onClick={onChoose}
    >
      <span className={s.name}>{name}</span>
      <span className={s.about}>
        {note && <span>{note}</span>}
        <Badge>{role}</Badge>
      </span>
    </Button>
  );
}
