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
  /** Asked for by Escape, by a press outside, and by the cross. */
  readonly onClose: () => void;
  readonly title: string;
  readonly description?: ReactNode;
  readonly size?: 's' | 'm' | 'l';
  /** At the side of the window, for details of what is behind it. */
  readonly side?: boolean;
  readonly initialFocus?: RefObject<HTMLElement | null>;
  /** A press outside does nothing: there is something in it to lose. */
  readonly keep?: boolean;
  readonly children?: ReactNode;
}

export function Dialog(props: DialogProps) {
  const popup = useRef<HTMLDivElement>(null);
  const { onClose, title, description, size = 'm', side, initialFocus, keep, children } = props;
  // What opens it has answered on the screen before it is built.
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

/** What is to be filled in has the focus, else the dialog itself, so that its name and text are read. */
const firstField = (popup: HTMLElement | null): HTMLElement | null =>
  popup?.querySelector<HTMLElement>(fields) ?? popup;

/** Of a group of choices the chosen one, as the Tab key has it. */
const fields = 'input:not([type="hidden"], [type="radio"]:not(:checked)), select, textarea, nav a';
