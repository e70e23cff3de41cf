import { Dialog as Base } from '@base-ui/react/dialog';
import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { useBlocker } from '@tanstack/react-router';
import clsx from 'clsx';
import { X } from 'lucide-react';
import { type ReactNode, type RefObject, useEffect, useRef, useState } from 'react';
import { errorText } from '../errors.ts';
import { Button, CopyButton, IconButton } from './button.tsx';
import dialogCss from './dialog.module.css';
import { Field, type Submission, send, TextInput } from './form.tsx';
import { Row, Stack } from './layout.tsx';
import secretDialogCss from './secret-dialog.module.css';
import { Notice } from './states.tsx';

interface DialogProps {
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

export function Dialog(props: DialogProps) {
  const popup = useRef<HTMLDivElement>(null);
  const { open, onClose, title, description, size = 'm', side, initialFocus, keep, children } = props;
  useFocusKept(open);
  return (
    <Base.Root
      open={open}
      disablePointerDismissal={keep ?? false}
      onOpenChange={(next) => !next && onClose()}
    >
      <Base.Portal>
        <Base.Backdrop className={dialogCss.backdrop} />
        <Base.Viewport className={clsx(dialogCss.viewport, side && dialogCss.atSide)}>
          <Base.Popup
            className={clsx(dialogCss.popup, side ? dialogCss.side : dialogCss[size])}
            initialFocus={initialFocus ?? (() => firstField(popup.current))}
            ref={popup}
          >
            <header className={dialogCss.head}>
              <div>
                <Base.Title className={dialogCss.title}>{title}</Base.Title>
                {description !== undefined && (
                  <Base.Description render={<div />} className={dialogCss.description}>
                    {description}
                  </Base.Description>
                )}
              </div>
              <Base.Close render={<IconButton label={t`Close`} size="s" icon={<X />} />} />
            </header>
            {children !== undefined && <div className={dialogCss.body}>{children}</div>}
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
  readonly children: ReactNode;
  readonly confirm: string;
  readonly danger?: boolean;
  /** For actions with large effects: the word to type before confirming, in lower case. */
  readonly typed?: string | undefined;
};

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
            <Field label={t`Type “${typed}” to confirm`}>
              <TextInput ref={input} value={text} onValue={setText} />
            </Field>
          )}
          {mutation.error != null && <Notice tone="bad">{errorText(mutation.error)}</Notice>}
          <Row justify="flex-end">
            <Button ref={cancel} onClick={close}>
              <Trans>Cancel</Trans>
            </Button>
            <Button
              type="submit"
              variant={danger ? 'danger' : 'primary'}
              pending={mutation.isPending}
              disabledReason={missing ? t`Type “${typed}” first` : undefined}
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

/** Focuses the page's heading if the element that had the focus, such as a deleted row, is gone. */
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

interface SecretDialogProps {
  readonly title: string;
  readonly name: string;
  readonly value: string;
  /** A function gets what to call when something else that holds the secret was copied. */
  readonly children?: ReactNode | ((onCopied: () => void) => ReactNode);
  readonly onClose: () => void;
}

/** Closing or leaving before copying asks first. Only the state of the opening component holds the value. */
export function SecretDialog({ title, name, value, children, onClose }: SecretDialogProps) {
  const [copied, setCopied] = useState(false);
  const [asking, setAsking] = useState(false);
  const copy = useRef<HTMLButtonElement>(null);
  const leaving = useRef(false);
  const finish = (): void => {
    leaving.current = true;
    onClose();
  };
  const close = (): void => {
    if (copied || asking) finish();
    else setAsking(true);
  };
  const onCopied = (): void => {
    setCopied(true);
    setAsking(false);
  };
  // Reload asks in the browser's words.
  useBlocker({
    shouldBlockFn: () => {
      if (leaving.current) return false;
      setAsking(true);
      return true;
    },
    enableBeforeUnload: () => !leaving.current,
    disabled: copied,
  });
  return (
    <Dialog open onClose={close} title={title} initialFocus={copy} keep>
      <Stack>
        <p>
          <Trans>
            This {name} is shown <strong>only once</strong>. Copy it now and store it safely, for example in a
            password manager.
          </Trans>
        </p>
        <div className={secretDialogCss.value}>
          <code>{value}</code>
          <CopyButton ref={copy} value={value} label={t`Copy ${name}`} variant="primary" onCopied={onCopied}>
            <Trans>Copy</Trans>
          </CopyButton>
        </div>
        {typeof children === 'function' ? children(onCopied) : children}
        {asking && (
          <Notice
            tone="warn"
            title={t`Close without copying the ${name}?`}
            actions={
              <>
                <Button
                  size="s"
                  onClick={() => {
                    setAsking(false);
                    copy.current?.focus();
                  }}
                >
                  <Trans>Stay</Trans>
                </Button>
                <Button size="s" variant="danger" onClick={finish}>
                  <Trans>Close anyway</Trans>
                </Button>
              </>
            }
          >
            <div role="alert">
              <Trans>It cannot be shown again; you would have to create a new one.</Trans>
            </div>
          </Notice>
        )}
        {!asking && (
          <Row justify="flex-end">
            <Button onClick={close}>{copied ? t`Done` : t`Close`}</Button>
          </Row>
        )}
      </Stack>
    </Dialog>
  );
}
