import { useRouter, useSearch } from '@tanstack/react-router';
import { Building2, Fingerprint } from 'lucide-react';
import { useEffect, useState } from 'react';
import { call, useMutation } from '../../model/client.ts';
import { FactorField, useFactor } from '../../model/credential-fields.tsx';
import { knowsPasskeys, signInByPasskey } from '../../model/passkeys.ts';
import { PublicFrame } from '../../model/public-frame.tsx';
import { enter, type Session } from '../../model/session.ts';
import { CompanyCode, type OtherCompany, useSwitchCompany } from '../../model/switch-company.tsx';
import { Button } from '../../ui/button.tsx';
import { ApiError, errorText } from '../../ui/errors.ts';
import { Field, Form, PasswordInput, TextInput } from '../../ui/form.tsx';
import { Stack } from '../../ui/layout.tsx';
import { Notice } from '../../ui/states.tsx';
import { Badge } from '../../ui/values.tsx';
import chooseCompanyCss from './choose-company.module.css';
import signInPageCss from './sign-in-page.module.css';

export function SignInPage() {
  const { next, why } = useSearch({ from: '/sign-in' });
  const [credentials, setCredentials] = useState<Credentials | null>(null);
  const router = useRouter();
  const [choices, setChoices] = useState<Session | null>(null);
  const start = (session: Session): void => {
    enter(session);
    // A path may contain an id of the company it was opened in.
    const sameCompany = choices === null || choices.company.id === session.company.id;
    router.history.push(`/portal${(sameCompany && next) || '/'}`);
  };
  const done = (session: Session): void => {
    if (session.otherCompanies.length > 0) setChoices(session);
    else start(session);
  };
  if (choices)
    return (
      <PublicFrame title="Choose a company">
        <ChooseCompany session={choices} onDone={start} />
      </PublicFrame>
    );
  return (
    <PublicFrame title={credentials ? 'One more step' : 'Sign in'}>
      {why === 'ended' && !credentials && (
        <Notice tone="info">Your session ended. Sign in to continue where you left off.</Notice>
      )}
      {why === 'new-password' && !credentials && (
        <Notice tone="good">Your new password is set. Sign in with it.</Notice>
      )}
      {why === 'signed-out' && !credentials && <Notice tone="good">You are signed out.</Notice>}
      {credentials ? (
        <>
          <CodeStep credentials={credentials} onDone={done} onBack={() => setCredentials(null)} />
          <details className={signInPageCss.lost}>
            <summary>Lost your phone, passkeys and recovery codes?</summary>
            <p>
              An owner of your company can reset your second factor on the Team page. If you are the only
              owner, ask the operator of this service.
            </p>
          </details>
        </>
      ) : (
        <>
          <PasswordStep onDone={done} onCodeNeeded={setCredentials} />
          {knowsPasskeys() && <PasskeyButton onDone={done} />}
          <details className={signInPageCss.lost}>
            <summary>Lost your password?</summary>
            <p>
              An owner or admin of your company can create a reset link for you on the Team page. If you are
              the only owner, ask the operator of this service.
            </p>
          </details>
        </>
      )}
    </PublicFrame>
  );
}

interface Credentials {
  readonly email: string;
  readonly password: string;
  /** What the memberships with this password accept beside a recovery code. */
  readonly factors: { readonly totp: boolean; readonly passkey: boolean };
}

function PasskeyButton({ onDone }: { readonly onDone: (session: Session) => void }) {
  const signIn = useMutation({ mutationFn: signInByPasskey, onSuccess: onDone });
  return (
    <Stack gap="s">
      <Button wide icon={<Fingerprint />} pending={signIn.isPending} onClick={() => signIn.mutate()}>
        Sign in with a passkey
      </Button>
      {signIn.error && <Notice tone="bad">{errorText(signIn.error)}</Notice>}
    </Stack>
  );
}

interface PasswordStepProps {
  readonly onDone: (session: Session) => void;
  readonly onCodeNeeded: (credentials: Credentials) => void;
}

function PasswordStep({ onDone, onCodeNeeded }: PasswordStepProps) {
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const signIn = useMutation({
    mutationFn: () => call('signIn', { body: { email, password } }),
    onSuccess: (answer) => {
      if (answer.mfaRequired) onCodeNeeded({ email, password, factors: answer });
      else onDone(answer);
    },
  });
  const wait = useWait(signIn.error);
  return (
    <Form
      mutation={signIn}
      onSubmit={() => signIn.mutate()}
      submit={wait > 0 ? `Wait ${wait} s` : 'Sign in'}
      submitDisabledReason={wait > 0 ? `Too many attempts; try again in ${wait} seconds` : undefined}
      wide
    >
      <Field label="Email" name="email">
        <TextInput
          type="email"
          name="email"
          autoComplete="username"
          autoFocus
          value={email}
          onValue={setEmail}
        />
      </Field>
      <Field label="Password" name="password">
        <PasswordInput
          name="password"
          autoComplete="current-password"
          value={password}
          onValue={setPassword}
        />
      </Field>
    </Form>
  );
}

const useWait = (error: unknown): number => {
  const [left, setLeft] = useState(0);
  useEffect(() => {
    const seconds = error instanceof ApiError && error.status === 429 ? (error.retryAfterSeconds ?? 0) : 0;
    setLeft(seconds);
    if (seconds === 0) return;
    const timer = setInterval(() => setLeft((now) => Math.max(now - 1, 0)), 1000);
    return () => clearInterval(timer);
  }, [error]);
  return left;
};

interface CodeStepProps {
  readonly credentials: Credentials;
  readonly onDone: (session: Session) => void;
  readonly onBack: () => void;
}

function CodeStep({ credentials, onDone, onBack }: CodeStepProps) {
  const { email, password, factors } = credentials;
  const factor = useFactor(!factors.totp);
  const signIn = useMutation({
    mutationFn: () => call('signIn', { body: { email, password, ...factor.given } }),
    onSuccess: (answer) => {
      if (!answer.mfaRequired) onDone(answer);
    },
  });
  const wait = useWait(signIn.error);
  const swap = (): void => {
    factor.swap();
    signIn.reset();
  };
  const form = (
    <Form
      mutation={signIn}
      onSubmit={() => signIn.mutate()}
      submit={wait > 0 ? `Wait ${wait} s` : 'Continue'}
      submitDisabledReason={wait > 0 ? `Too many attempts; try again in ${wait} seconds` : undefined}
      secondary={
        <Button variant="ghost" onClick={onBack}>
          Back
        </Button>
      }
    >
      <FactorField factor={{ ...factor, swap }} recoveryOnly={!factors.totp} autoFocus />
    </Form>
  );
  return (
    <Stack>
      {factors.passkey && knowsPasskeys() && <PasskeyButton onDone={onDone} />}
      {form}
    </Stack>
  );
}

/** Shown after a sign-in to several companies. The company used last comes first. */
function ChooseCompany({ session, onDone }: { session: Session; onDone: (session: Session) => void }) {
  const [asked, setAsked] = useState<OtherCompany | null>(null);
  const change = useSwitchCompany(onDone);
  if (asked) return <CompanyCode company={asked} onDone={onDone} onBack={() => setAsked(null)} />;
  const { company, user, otherCompanies } = session;
  return (
    <Stack>
      <ul className={chooseCompanyCss.list} aria-label="Your companies">
        <li>
          <Company name={company.name} role={user.role} first onChoose={() => onDone(session)} />
        </li>
        {otherCompanies.map((one) => (
          <li key={one.id}>
            <Company
              name={one.name}
              role={one.role}
              note={one.codeRequired ? 'Code required' : undefined}
              pending={change.isPending && change.variables === one.id}
              onChoose={() => (one.codeRequired ? setAsked(one) : change.mutate(one.id))}
            />
          </li>
        ))}
      </ul>
      {change.error && <Notice tone="bad">{errorText(change.error)}</Notice>}
    </Stack>
  );
}

interface CompanyProps {
  readonly name: string;
  readonly role: string;
  readonly note?: string | undefined;
  readonly first?: boolean;
  readonly pending?: boolean;
  readonly onChoose: () => void;
}

function Company({ name, role, note, first, pending, onChoose }: CompanyProps) {
  return (
    <Button
      wide
      variant={first ? 'primary' : 'secondary'}
      tip={name}
      icon={<Building2 />}
      pending={pending ?? false}
      autoFocus={first}
      onClick={onChoose}
    >
      <span className={chooseCompanyCss.name}>{name}</span>
      <span className={chooseCompanyCss.about}>
        {note && <span>{note}</span>}
        <Badge>{role}</Badge>
      </span>
    </Button>
  );
}
