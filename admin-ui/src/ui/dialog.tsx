import { Dialog as Base } from '@base-ui/react/dialog';
import clsx from 'clsx';
import { X } from 'lucide-react';
import { type ReactNode, type RefObject, useRef } from 'react';
import { useOpenAfterPaint } from './after-paint.ts';
import { IconButton } from './button.tsx';
import s from './dialog.module.css';
import { useFocusKept } from './use-focus-kept.ts';

export interface DialogProps {
  readonly open: boolean;
  /** Called on Escape, a press outside, and the close button. */
  readonly onClose: () => void;
  readonly title: string;
  readonly description?: ReactNode;
  readonly size?: 's' | 'm' | 'l';
  /** Opens at the side of the window, for details of the page behind it. */
  readonly side?: boolean;
  readonly initialFocus?: RefObject<HTMLElement | null>;
  /** A press outside does nothing, because the dialog has input to lose. */
  readonly keep?: boolean;
  readonly children?: ReactNode;
}

export function Dialog(props: DialogProps) {
  const popup = useRef<HTMLDivElement>(null);
  const { onClose, title, description, size = 'm', side, initialFocus, keep, children } = props;
  // The button that opens it responds on screen before the dialog is built.
  const open = useOpenAfterPaint(props.open);
  useFocusKept(open);
  return (
    <Base.Root
      open={open}
      disablePointerDismissal={keep ?? false}
      onOpenChange={(next) => {
        if (!next) onClose();
      }}
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
