import { type ReactNode, useState } from 'react';
import { encode } from 'uqr';
import { type Answer, call } from '../../model/client.ts';
import { queryClient } from '../../model/query-client.ts';
import { useSession } from '../../model/session.ts';
import { CopyButton } from '../../ui/button.tsx';
import { ConfirmDialog, SecretFlow } from '../../ui/dialog.tsx';
import type { Shown } from '../../ui/dialog-button.tsx';
import { Field, Form, TextInput } from '../../ui/form.tsx';
import s from './two-factor.module.css';

interface CodesFlowProps extends Shown {
  readonly title: string;
  readonly codesTitle: string;
  readonly form: (onMade: (made: { readonly recoveryCodes: readonly string[] }) => void) => ReactNode;
}

/** A change that makes recovery codes. */
export function CodesFlow({ codesTitle, ...flow }: CodesFlowProps) {
  return (
    <SecretFlow
      {...flow}
      size="s"
      secret={({ recoveryCodes }) => ({
        ...{ title: codesTitle, name: 'list of recovery codes', value: recoveryCodes.join('\n') },
        children: (
          <p>
            Use a recovery code, after your password, to sign in if you lose your phone. Each code works once.
            Store them apart from your password.
          </p>
        ),
      })}
      // The new session may leave the page, so it is asked for once the codes are closed.
      onEnd={() => void queryClient.invalidateQueries().then(flow.onClose)}
    />
  );
}

type StartedTotp = Answer<'startTotp'>;
type MadeCodes = Answer<'confirmTotp'>;

export const EnableTotp = (props: Shown) => (
  <CodesFlow
    {...props}
    title="Turn on two-factor sign-in"
    codesTitle="Two-factor sign-in is on"
    form={(onMade) => <Steps onClose={props.onClose} onDone={onMade} />}
  />
);

function Steps({ onClose, onDone }: { onClose: () => void; onDone: (made: MadeCodes) => void }) {
  const [started, setStarted] = useState<StartedTotp | null>(null);
  if (started) return <ConfirmTotp started={started} onClose={onClose} onDone={onDone} />;
  return (
    <Form act={() => call('startTotp', {})} onDone={setStarted} submit="Continue" onCancel={onClose}>
      <p>You need an authenticator app on your phone, such as 1Password, Google Authenticator or Aegis.</p>
    </Form>
  );
}

interface ConfirmProps {
  readonly started: StartedTotp;
  readonly onClose: () => void;
  readonly onDone: (made: MadeCodes) => void;
}

function ConfirmTotp({ started, onClose, onDone }: ConfirmProps) {
  const [code, setCode] = useState('');
  return (
    <Form
      act={() => call('confirmTotp', { body: { code } })}
      onDone={onDone}
      submit="Turn on"
      onCancel={onClose}
    >
      <p>Scan this QR code with the app, or enter the secret by hand:</p>
      <QrCode text={started.uri} secret={started.secret} />
      <Field label="The code that the app shows" name="code">
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

export function DisableTotp(props: Shown) {
  const { passkeys } = useSession().user;
  return (
    <ConfirmDialog
      {...props}
      title="Turn off two-factor sign-in?"
      confirm="Turn off two-factor sign-in"
      danger
      act={() => call('disableTotp', {})}
      done="Two-factor sign-in turned off"
    >
      {passkeys > 0
        ? 'You will sign in with a passkey, or with your password and a recovery code. Your other sessions end.'
        : 'You will sign in with your password alone. Your other sessions end.'}
    </ConfirmDialog>
  );
}

export const RecoveryCodes = (props: Shown) => (
  <CodesFlow
    {...props}
    title="Create new recovery codes?"
    codesTitle="New recovery codes"
    form={(onMade) => (
      <Form
        act={() => call('regenerateRecoveryCodes', {})}
        onDone={onMade}
        submit="Create recovery codes"
        onCancel={props.onClose}
      >
        <p>Your current recovery codes stop working.</p>
      </Form>
    )}
  />
);
