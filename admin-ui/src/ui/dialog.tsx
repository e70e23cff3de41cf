import { Dialog as Base } from '@base-ui/react/dialog';
import clsx from 'clsx';
import { X } from 'lucide-react';
import { type ReactNode, type RefObject, useEffect, useRef, useState } from 'react';
import { errorText } from '../errors.ts';
import { useOpenAfterPaint } from './after-paint.ts';
import { Button, IconButton } from './button.tsx';
import s from './dialog.module.css';
import { Field, type Submission, send, TextInput } from './form.tsx';
import { Row, Stack } from './layout.tsx';
import { Notice } from './notice.tsx';

interface DialogProps {
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

type ConfirmProps = Submission & {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly title: string;
  /** What will happen, and whether it can be undone. */
  readonly children: ReactNode;
  readonly confirm: string;
  readonly danger?: boolean;
  /** For actions with large effects: the word to type before confirming, in lower case. */
  readonly typed?: string | undefined;
};

/** Asks for confirmation of an irreversible action. The safe button has the focus. */
export function ConfirmDialog(props: ConfirmProps) {
  const { open, onClose, title, children, confirm, danger, typed, mutation } = props;
  const [text, setText] = useState('');
  const cancel = useRef<HTMLButtonElement>(null);
  const input = useRef<HTMLInputElement>(null);
  const close = (): void => {
    setText('');
    onClose();
  };
  const missing = typed !== undefined && text.trim().toLowerCase() !== typed;
  return (
    <Dialog
      open={open}
      onClose={close}
      title={title}
      size="s"
      initialFocus={typed === undefined ? cancel : input}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (!missing) send(props);
        }}
      >
        <Stack>
          <div>{children}</div>
          {typed !== undefined && (
            <Field label={`Type “${typed}” to confirm`}>
              <TextInput ref={input} value={text} onChange={(event) => setText(event.target.value)} />
            </Field>
          )}
          {mutation.error != null && <Notice tone="bad">{errorText(mutation.error)}</Notice>}
          <Row justify="flex-end">
            <Button ref={cancel} onClick={close}>
              Cancel
            </Button>
            <Button
              type="submit"
              variant={danger ? 'danger' : 'primary'}
              pending={mutation.isPending}
              disabledReason={missing ? `Type “${typed}” first` : undefined}
            >
              {confirm}
            </Button>
          </Row>
        </Stack>
      </form>
    </Dialog>
  );
}

/** Longer than the closing animation of a dialog. */
const goneMs = 300;

/**
 * Moves the focus to the page's heading if the element that had it before the dialog is gone, such as a menu item or
 * a deleted row. Keyboard users never lose their place.
 */
const useFocusKept = (open: boolean): void => {
  useEffect(() => {
    if (!open) return;
    return () => {
      setTimeout(() => {
        if (document.activeElement !== document.body) return;
        document.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true });
      }, goneMs);
    };
  }, [open]);
};
