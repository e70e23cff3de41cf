import { Dialog } from '../../ui/dialog.tsx';
import { rememberSignedIn, type Session } from '../session.ts';
import { CompanyCode, type OtherCompany } from '../switch-company.tsx';

interface SwitchCompanyProps {
  readonly company: OtherCompany | null;
  readonly onClose: () => void;
}

/** Asks for the second factor of a company that requires one. */
export function SwitchCompany({ company, onClose }: SwitchCompanyProps) {
  if (!company) return null;
  return (
    <Dialog
      open
      onClose={onClose}
      title={`Switch to ${company.name}`}
      description="This company requires your two-factor code."
      size="s"
    >
      <CompanyCode company={company} onBack={onClose} onDone={showCompany} />
    </Dialog>
  );
}

/** Opens the other company. Reloads the page, so that nothing of the previous company stays in memory. */
export const showCompany = ({ company }: Session): void => {
  rememberSignedIn(company.id);
  location.assign('/portal/');
};
