import { type ReactNode, useRef, useState } from 'react';
import { errorText } from '../errors.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { Field, TextInput } from './field.tsx';
import { type Submission, send } from './form.tsx';
import { Row, Stack } from './layout.tsx';
import { Notice } from './notice.tsx';

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
