import { Menu as Base } from '@base-ui/react/menu';
import clsx from 'clsx';
import type { ReactElement, ReactNode } from 'react';
import s from './menu.module.css';

interface MenuAction {
  /** Where labels repeat. */
  readonly id?: string;
  readonly label: string;
  readonly detail?: ReactNode;
  readonly icon?: ReactNode;
  readonly danger?: boolean;
  readonly disabledReason?: string | undefined;
  readonly onSelect: () => void;
}

export interface MenuProps {
  readonly trigger: ReactElement<{ onClick?: () => void }>;
  readonly heading?: ReactNode;
  readonly actions: readonly (MenuAction | 'separator')[];
  readonly onClose?: () => void;
}

interface MenuPopupProps extends MenuProps {
  readonly defaultOpen: boolean;
}

export function MenuPopup({ trigger, heading, actions, onClose, defaultOpen }: MenuPopupProps) {
  return (
    <Base.Root defaultOpen={defaultOpen} modal={false} onOpenChange={(open) => !open && onClose?.()}>
      <Base.Trigger render={trigger} />
      <Base.Portal>
        <Base.Positioner className={s.positioner} align="end" sideOffset={4}>
          <Base.Popup className={s.popup}>
            {heading !== undefined && <div className={s.heading}>{heading}</div>}
            {actions.map((action, index) =>
              action === 'separator' ? (
                <Base.Separator key={String(index)} className={s.separator} />
              ) : (
                <Base.Item
                  key={action.id ?? action.label}
                  className={clsx(s.item, action.danger && s.danger)}
                  disabled={action.disabledReason !== undefined}
                  onClick={action.onSelect}
                >
                  {action.icon}
                  <span>
                    {action.label}
                    {action.detail !== undefined && <small className={s.reason}>{action.detail}</small>}
                    {action.disabledReason !== undefined && (
                      <small className={s.reason}>{action.disabledReason}</small>
                    )}
                  </span>
                </Base.Item>
              ),
            )}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
