import { useBlocker } from '@tanstack/react-router';
import { type ReactNode, useRef, useState } from 'react';
import { Button } from './button.tsx';
import { CopyButton } from './copy-button.tsx';
import { Dialog } from './dialog.tsx';
import { Row, Stack } from './layout.tsx';
import { Notice } from './notice.tsx';
import s from './secret-dialog.module.css';

interface SecretDialogProps {
  readonly title: string;
  /** The kind of secret: `API key`. */
  readonly name: string;
  readonly value: string;
  /** A function gets what to call when something else that holds the secret was copied. */
  readonly children?: ReactNode | ((onCopied: () => void) => ReactNode);
  /** The next step; it also closes the dialog. */
  readonly onClose: () => void;
}

/**
 * Shows a secret once. The copy button has the focus; closing or leaving before copying asks first. The value lives only in the
 * state of the component that opens this dialog.
 */
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
          This {name} is shown <strong>only once</strong>. Copy it now and store it safely, for example in a
          password manager.
        </p>
        <div className={s.value}>
          <code>{value}</code>
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
