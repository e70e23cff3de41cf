import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { encode } from 'uqr';
import { type Answer, call, useMutation } from '../../model/client.ts';
import { sessionsQuery } from '../../model/queries.ts';
import { sessionQuery, useSession } from '../../model/session.ts';
import { CopyButton } from '../../ui/button.tsx';
import { ConfirmDialog, Dialog, SecretDialog } from '../../ui/dialog.tsx';
import { fieldError } from '../../ui/errors.ts';
import { Field, Form, TextInput } from '../../ui/form.tsx';
import { toast } from '../../ui/toast.ts';
import s from './two-factor.module.css';

type StartedTotp = Answer<'startTotp'>;

export function EnableTotp({ open, onClose }: { readonly open: boolean; readonly onClose: () => void }) {
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
  const [started, setStarted] = useState<StartedTotp | null>(null);
  const start = useMutation({
    mutationFn: () => call('startTotp', {}),
    gcTime: 0,
    onSuccess: setStarted,
  });
  if (!started) {
    return (
      <Form mutation={start} fields={[]} submit="Continue" onCancel={onClose}>
        <p>You need an authenticator app on your phone, such as 1Password, Google Authenticator or Aegis.</p>
      </Form>
    );
  }
  return <ConfirmTotp started={started} onClose={onClose} onDone={onDone} />;
}

interface ConfirmProps {
  readonly started: StartedTotp;
  readonly onClose: () => void;
  readonly onDone: (codes: readonly string[]) => void;
}

function ConfirmTotp({ started, onClose, onDone }: ConfirmProps) {
  const [code, setCode] = useState('');
  const confirm = useMutation({
    mutationFn: () => call('confirmTotp', { body: { code } }),
    gcTime: 0,
    onSuccess: (answer) => onDone(answer.recoveryCodes),
  });
  return (
    <Form mutation={confirm} fields={['code']} submit="Turn on" onCancel={onClose}>
      <p>Scan this QR code with the app, or enter the secret by hand:</p>
      <QrCode text={started.uri} secret={started.secret} />
      <Field label="The code that the app shows" error={fieldError(confirm.error, 'code')}>
        <TextInput
          mono
          autoFocus
          inputMode="numeric"
          autoComplete="one-time-code"
          value={code}
          onValue={setCode}
        />
      </Field>
    </Form>
  );
}

/** The code dark on light in both themes, as scanners want it. */
function QrCode({ text, secret }: { readonly text: string; readonly secret: string }) {
  const { data, size } = encode(text, { border: 3 });
  const path = data.flatMap((row, y) => row.map((dark, x) => (dark ? `M${x} ${y}h1v1h-1z` : ''))).join('');
  return (
    <div className={s.box}>
      <svg viewBox={`0 0 ${size} ${size}`} role="img" aria-label="QR code with the secret" className={s.code}>
        <path d={path} fill="#000" shapeRendering="crispEdges" />
      </svg>
      <div className={s.secret}>
        <code>{secret.replaceAll(/(.{4})/g, '$1 ').trim()}</code>
        <CopyButton value={secret} label="Copy secret" />
      </div>
    </div>
  );
}

export function DisableTotp({ onClose }: { readonly onClose: () => void }) {
  const { passkeys } = useSession().user;
  const disable = useMutation({
    mutationFn: () => call('disableTotp', {}),
    onSuccess: () => {
      onClose();
      toast('Two-factor sign-in turned off');
    },
  });
  return (
    <ConfirmDialog
      open
      onClose={onClose}
      title="Turn off two-factor sign-in?"
      confirm="Turn off two-factor sign-in"
      danger
      mutation={disable}
    >
      {passkeys > 0
        ? 'You will sign in with a passkey, or with your password and a recovery code. Your other sessions end.'
        : 'You will sign in with your password alone. Your other sessions end.'}
    </ConfirmDialog>
  );
}

export function RecoveryCodes({ open, onClose }: { readonly open: boolean; readonly onClose: () => void }) {
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  const renew = useMutation({
    mutationFn: () => call('regenerateRecoveryCodes', {}),
    gcTime: 0,
    onSuccess: (answer) => setCodes(answer.recoveryCodes),
  });
  if (codes) {
    const done = (): void => {
      setCodes(null);
      onClose();
    };
    return <CodesDialog title="New recovery codes" codes={codes} onClose={done} />;
  }
  return (
    <ConfirmDialog
      open={open}
      onClose={onClose}
      title="Create new recovery codes?"
      confirm="Create recovery codes"
      mutation={renew}
    >
      Your current recovery codes stop working.
    </ConfirmDialog>
  );
}

export function CodesDialog({
  title,
  codes,
  onClose,
}: {
  title: string;
  codes: readonly string[];
  onClose: () => void;
}) {
  return (
    <SecretDialog title={title} name="list of recovery codes" value={codes.join('\n')} onClose={onClose}>
      <p>
        Use a recovery code, after your password, to sign in if you lose your phone. Each code works once.
        Store them apart from your password.
      </p>
    </SecretDialog>
  );
}
