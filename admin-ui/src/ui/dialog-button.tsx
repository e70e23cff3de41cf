import { useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { Button, type ButtonProps } from './button.tsx';

/** What every dialog takes. */
export interface Shown {
  readonly open: boolean;
  readonly onClose: () => void;
}

/** The dialog that the URL names: Back closes it, a reload keeps it, and links lead to it. */
export const useDialog = () => {
  const { dialog, ...search } = useSearch({ strict: false });
  const navigate = useNavigate();
  const go = (to: object, replace = false): void => void navigate({ to: '.', search: to as never, replace });
  return {
    dialog,
    open: (name: NonNullable<typeof dialog>, more = {}): void => go({ ...search, ...more, dialog: name }),
    close: (): void => go(search, true),
  };
};

interface DialogButtonProps extends Omit<ButtonProps, 'onClick' | 'name'> {
  /** In the URL. Without a name, a reload closes it. */
  readonly name?: ReturnType<typeof useDialog>['dialog'];
  readonly dialog: (shown: Shown) => ReactNode;
}

/** Opens a dialog, which only those may see who may press the button. */
export function DialogButton({ name, dialog, ...button }: DialogButtonProps) {
  const [isOpen, setOpen] = useState(false);
  const inUrl = useDialog();
  const shown = name === undefined ? isOpen : inUrl.dialog === name;
  return (
    <>
      <Button {...button} onClick={() => (name === undefined ? setOpen(true) : inUrl.open(name))} />
      {dialog({
        open: shown && button.disabledReason === undefined,
        onClose: name === undefined ? () => setOpen(false) : inUrl.close,
      })}
    </>
  );
}
