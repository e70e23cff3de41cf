import type { ReactNode } from 'react';
import { Button } from '../ui/button.tsx';
import { Form } from '../ui/form.tsx';
import { call, useMutation } from './client.ts';
import { FactorField, useFactor } from './credential-fields.tsx';
import { rememberSignedIn, type Session } from './session.ts';

export type OtherCompany = Session['otherCompanies'][number];

export const useSwitchCompany = (onDone: (session: Session) => void) =>
  useMutation({
    mutationFn: (companyId: number) => call('switchCompany', { body: { companyId } }),
    onSuccess: onDone,
  });

interface CompanyCodeProps {
  readonly company: OtherCompany;
  readonly onDone: (session: Session) => void;
  readonly onBack: () => void;
}

export function CompanyCode({ company, onDone, onBack }: CompanyCodeProps): ReactNode {
  const factor = useFactor();
  return (
    <Form
      act={() => call('switchCompany', { body: { companyId: company.id, ...factor.given } })}
      onDone={onDone}
      submit={`Open ${company.name}`}
      secondary={<Button onClick={onBack}>Back</Button>}
    >
      <FactorField factor={factor} autoFocus />
    </Form>
  );
}

/** Reloads the page, so that nothing of the previous company stays in memory. */
export const showCompany = ({ company }: Session): void => {
  rememberSignedIn(company.id);
  location.assign('/portal/');
};
