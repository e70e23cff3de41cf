import { Dialog } from '../../ui/dialog.tsx';
import { rememberSignedIn, type Session } from '../session.ts';
import { CompanyCode, type OtherCompany } from '../switch-company.tsx';

interface SwitchCompanyProps {
  readonly company: OtherCompany | null;
  readonly onClose: () => void;
}

/** Asks for the code of a company whose second factor this sign-in has not shown yet. */
export function SwitchCompany({ company, onClose }: SwitchCompanyProps) {
  if (!company) return null;
  return (
    <Dialog
      open
      onClose={onClose}
      title={`Switch to ${company.name}`}
      description="You use two-factor sign-in in this company."
      size="s"
    >
      <CompanyCode company={company} onBack={onClose} onDone={showCompany} />
    </Dialog>
  );
}

/** Shows the company that was switched to. The page is loaded anew, so that it keeps nothing of the one before. */
export const showCompany = ({ company }: Session): void => {
  rememberSignedIn(company.id);
  location.assign('/portal/');
};
