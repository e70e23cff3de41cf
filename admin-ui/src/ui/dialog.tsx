import { useBlocker } from '@tanstack/react-router';
import { type ReactNode, Suspense, useRef, useState } from 'react';
import { Button, CopyButton } from './button.tsx';
import type { DialogProps } from './dialog-popup.tsx';
import { errorText } from './errors.ts';
import { Field, TextInput } from './form.tsx';
import { later } from './later.ts';
import { Row, Stack } from './layout.tsx';
import { type Act, useAct } from './mutation.ts';
import secretDialogCss from './secret-dialog.module.css';
import { Notice } from './states.tsx';

const DialogPopup = later(() => import('./dialog-popup.tsx'), 'DialogPopup');

/** Its code loads after the page, or when it first opens. */
export function Dialog(props: DialogProps) {
  const [used, setUsed] = useState(props.open);
  if (props.open && !used) setUsed(true);
  return (
    used && (
      <Suspense>
        <DialogPopup {...props} />
      </Suspense>
    )
  );
}

interface ConfirmProps<Result> extends Act<Result> {
  readonly open?: boolean;
  /** Also when it is done, unless `onDone` says what else happens. */
  readonly onClose: () => void;
  readonly title: string;
  readonly children: ReactNode;
  readonly confirm: string;
  readonly danger?: boolean;
  /** For actions with large effects: the word to type before confirming, in lower case. */
  readonly typed?: string | undefined;
}

export function ConfirmDialog<Result>(props: ConfirmProps<Result>) {
  const { open = true, onClose, title, children, confirm, danger, typed, act, done, onDone } = props;
  const mutation = useAct({ act, done, onDone: onDone ?? (() => close()) });
  const [text, setText] = useState('');
  const cancel = useRef<HTMLButtonElement>(null);
  const input = useRef<HTMLInputElement>(null);
  const close = (): void => {
    setText('');
    mutation.reset();
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
          if (!missing) mutation.mutate();
        }}
      >
        <Stack>
          <Stack gap="s">{children}</Stack>
          {typed !== undefined && (
            <Field label={`Type “${typed}” to confirm`}>
              <TextInput ref={input} value={text} onValue={setText} />
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

export type DialogTexts = Pick<DialogProps, 'open' | 'title' | 'description' | 'size'>;

interface SecretFlowProps<Made> extends DialogTexts {
  readonly onClose: () => void;
  readonly form: (onMade: (made: Made) => void) => ReactNode;
  readonly secret: (made: Made) => Omit<SecretDialogProps, 'onClose'>;
  /** Once the secret is closed. */
  readonly onEnd?: () => void;
}

/** A form that makes a secret, then the secret. Only the state of this component holds it. */
export function SecretFlow<Made>({ onClose, form, secret, onEnd, ...dialog }: SecretFlowProps<Made>) {
  const [made, setMade] = useState<{ readonly value: Made }>();
  const end = (): void => {
    setMade(undefined);
    onEnd?.();
  };
  if (made) return <SecretDialog {...secret(made.value)} onClose={end} />;
  return (
    <Dialog {...dialog} onClose={onClose}>
      {form((value) => {
        setMade({ value });
        onClose();
      })}
    </Dialog>
  );
}

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
          This {name} is shown <strong>only once</strong>. Copy it now
          {name === 'link' ? '.' : ' and store it safely, for example in a password manager.'}
        </p>
        <div className={secretDialogCss.value}>
          <code tabIndex={value.includes('\n') ? 0 : undefined}>{value}</code>
          <CopyButton ref={copy} value={value} label={`Copy ${name}`} variant="primary" onCopied={onCopied}>
            Copy
          </CopyButton>
        </div>
        {typeof children === 'function' ? children(onCopied) : children}
        {asking && (
          <Notice
            tone="warn"
            title={`Close without copying the ${name}?`}
            actions={
              <>
                <Button
                  size="s"
                  onClick={() => {
                    setAsking(false);
                    copy.current?.focus();
                  }}
                >
                  Stay
                </Button>
                <Button size="s" variant="danger" onClick={finish}>
                  Close anyway
                </Button>
              </>
            }
          >
            <div role="alert">It cannot be shown again; you would have to create a new one.</div>
          </Notice>
        )}
        {!asking && (
          <Row justify="flex-end">
            <Button onClick={close}>{copied ? 'Done' : 'Close'}</Button>
          </Row>
        )}
      </Stack>
    </Dialog>
  );
}
