import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../../api/client.ts';
import { useMutation } from '../../api/mutation.ts';
import type { Answer } from '../../api/types.ts';
import { sessionQuery } from '../../app/session.ts';
import { fieldError } from '../../errors.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field, TextInput } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { CodesDialog } from './codes-dialog.tsx';
import { PasswordForm, type Proof } from './password-form.tsx';
import { QrCode } from './qr-code.tsx';
import { sessionsQuery } from './queries.ts';

type Started = Answer<'startTotp'>;

interface EnableTotpProps {
  readonly open: boolean;
  readonly onClose: () => void;
}

/** Asks for the password, shows the QR code, checks the app's first code, then shows the recovery codes. */
export function EnableTotp({ open, onClose }: EnableTotpProps) {
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  const queryClient = useQueryClient();
  if (codes) {
    const done = (): void => {
      setCodes(null);
      onClose();
      void queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey });
      void queryClient.invalidateQueries({ queryKey: sessionsQuery.queryKey });
    };
    return <CodesDialog title="Two-factor sign-in is on" codes={codes} onClose={done} />;
  }
  return (
    <Dialog open={open} onClose={onClose} title="Turn on two-factor sign-in" size="s">
      {open && <Steps onClose={onClose} onDone={setCodes} />}
    </Dialog>
  );
}

function Steps({ onClose, onDone }: { onClose: () => void; onDone: (codes: readonly string[]) => void }) {
  const [started, setStarted] = useState<Started | null>(null);
  const start = useMutation({
    mutationFn: ({ password }: Proof) => call('startTotp', { body: { password } }),
    gcTime: 0,
    onSuccess: setStarted,
  });
  if (!started) {
    return (
      <PasswordForm submit="Continue" mutation={start} onClose={onClose}>
        <p>You need an authenticator app on your phone, such as 1Password, Google Authenticator or Aegis.</p>
      </PasswordForm>
    );
  }
  return <Confirm started={started} onClose={onClose} onDone={onDone} />;
}

interface ConfirmProps {
  readonly started: Started;
  readonly onClose: () => void;
  readonly onDone: (codes: readonly string[]) => void;
}

function Confirm({ started, onClose, onDone }: ConfirmProps) {
  const [code, setCode] = useState('');
  const confirm = useMutation({
    mutationFn: () => call('confirmTotp', { body: { code } }),
    gcTime: 0,
    onSuccess: (answer) => onDone(answer.recoveryCodes),
  });
  return (
    <Form
      mutation={confirm}
      fields={['code']}
      submit="Turn on"
      secondary={<Button onClick={onClose}>Cancel</Button>}
    >
      <p>Scan this QR code with the app, or enter the secret by hand:</p>
      <QrCode text={started.uri} secret={started.secret} />
      <Field label="The code that the app shows" error={fieldError(confirm.error, 'code')}>
        <TextInput
          mono
          autoFocus
          inputMode="numeric"
          autoComplete="one-time-code"
          value={code}
          onChange={(event) => setCode(event.target.value)}
        />
      </Field>
    </Form>
  );
}
