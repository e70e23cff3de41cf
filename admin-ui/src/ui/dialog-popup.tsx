import { Dialog as Base } from '@base-ui/react/dialog';
import clsx from 'clsx';
import { X } from 'lucide-react';
import { type ReactNode, type RefObject, useRef } from 'react';
import { IconButton } from './button.tsx';
import s from './dialog.module.css';

export interface DialogProps {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly title: string;
  readonly description?: ReactNode;
  readonly size?: 's' | 'm' | 'l';
  readonly side?: boolean;
  readonly initialFocus?: RefObject<HTMLElement | null>;
  /** A press outside does nothing, because the dialog has input to lose. */
  readonly keep?: boolean;
  readonly children?: ReactNode;
}

export function DialogPopup(props: DialogProps) {
  const popup = useRef<HTMLDivElement>(null);
  const { open, onClose, title, description, size = 'm', side, initialFocus, keep, children } = props;
  return (
    <Base.Root
      open={open}
      disablePointerDismissal={keep ?? false}
      onOpenChange={(next) => !next && onClose()}
    >
      <Base.Portal>
        <Base.Backdrop className={s.backdrop} />
        <Base.Viewport className={clsx(s.viewport, side && s.atSide)}>
          <Base.Popup
            className={clsx(s.popup, side ? s.side : s[size])}
            initialFocus={initialFocus ?? (() => firstField(popup.current))}
            ref={popup}
          >
            <header className={s.head}>
              <div>
                <Base.Title className={s.title}>{title}</Base.Title>
                {description !== undefined && (
                  <Base.Description render={<div />} className={s.description}>
                    {description}
                  </Base.Description>
                )}
              </div>
              <Base.Close render={<IconButton label="Close" size="s" icon={<X />} />} />
            </header>
            {children !== undefined && <div className={s.body}>{children}</div>}
          </Base.Popup>
        </Base.Viewport>
      </Base.Portal>
    </Base.Root>
  );
}

/** Focuses the first field, or else the dialog itself, so that screen readers read its name and text. */
const firstField = (popup: HTMLElement | null): HTMLElement | null =>
  popup?.querySelector<HTMLElement>(fields) ?? popup;

/** In a group of choices, the chosen one, like the Tab key. */
const fields = 'input:not([type="hidden"], [type="radio"]:not(:checked)), select, textarea, nav a';
