import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { encode } from 'uqr';
import { type Answer, call, useMutation } from '../../api/client.ts';
import { FactorField, useFactor } from '../../app/credential-fields.tsx';
import { sessionQuery } from '../../app/session.ts';
import { fieldError } from '../../errors.ts';
import { CopyButton } from '../../ui/button.tsx';
import { Dialog, SecretDialog } from '../../ui/dialog.tsx';
import { Field, Form, type Mutation, PasswordInput, TextInput } from '../../ui/form.tsx';
import { toast } from '../../ui/toast.tsx';
import { sessionsQuery } from '../queries.ts';
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
    mutationFn: ({ password }: PasswordProof) => call('startTotp', { body: { password } }),
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
  const disable = useMutation({
    mutationFn: (body: PasswordProof) => call('disableTotp', { body }),
    meta: { invalidates: [sessionQuery.queryKey, sessionsQuery.queryKey] },
    onSuccess: () => {
      onClose();
      toast('Two-factor sign-in turned off');
    },
  });
  return (
    <Dialog
      open
      onClose={onClose}
      title="Turn off two-factor sign-in?"
      description="You will sign in with your password alone. Your other sessions end."
      size="s"
    >
      <PasswordForm
        withFactor
        submit="Turn off two-factor sign-in"
        danger
        mutation={disable}
        onClose={onClose}
      />
    </Dialog>
  );
}

export function RecoveryCodes({ open, onClose }: { readonly open: boolean; readonly onClose: () => void }) {
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  const renew = useMutation({
    mutationFn: (body: PasswordProof) => call('regenerateRecoveryCodes', { body }),
    gcTime: 0,
    meta: { invalidates: [sessionQuery.queryKey] },
    onSuccess: (answer) => {
      setCodes(answer.recoveryCodes);
      onClose();
    },
  });
  if (codes)
    return <CodesDialog title="Your new recovery codes" codes={codes} onClose={() => setCodes(null)} />;
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title="Create new recovery codes?"
      description="Your current recovery codes stop working."
      size="s"
    >
      <PasswordForm withFactor submit="Create recovery codes" mutation={renew} onClose={onClose} />
    </Dialog>
  );
}

function CodesDialog({
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
        Use a recovery code to sign in if you lose your phone. Each code works once. Store them apart from
        your password.
      </p>
    </SecretDialog>
  );
}

interface PasswordProof {
  readonly password: string;
  readonly totp?: string;
  readonly recoveryCode?: string;
}

interface PasswordFormProps {
  readonly withFactor?: boolean;
  readonly submit: string;
  readonly danger?: boolean;
  readonly mutation: Mutation<PasswordProof>;
  readonly onClose: () => void;
  readonly children?: ReactNode;
}

function PasswordForm(props: PasswordFormProps) {
  const { withFactor = false, submit, danger = false, mutation, onClose, children } = props;
  const { error } = mutation;
  const [password, setPassword] = useState('');
  const factor = useFactor();
  return (
    <Form
      mutation={mutation}
      onSubmit={() => mutation.mutate({ password, ...(withFactor && factor.given) })}
      fields={['password', 'totp', 'recoveryCode']}
      submit={submit}
      danger={danger}
      onCancel={onClose}
    >
      {children}
      <Field label="Your password" error={fieldError(error, 'password')}>
        <PasswordInput autoComplete="current-password" value={password} onValue={setPassword} />
      </Field>
      {withFactor && <FactorField factor={factor} error={(field) => fieldError(error, field)} />}
    </Form>
  );
}
