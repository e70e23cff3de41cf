import { useEffect, useRef, useState } from 'react';
import { call, useMutation } from '../../api/client.ts';
import { readBootInput } from '../../app/boot.ts';
import type { Session } from '../../app/session.ts';
import { ApiError, fieldError } from '../../errors.ts';
import { Field, Form, PasswordInput, TextInput } from '../../ui/form.tsx';

export interface Credentials {
  readonly email: string;
  readonly password: string;
}

interface PasswordStepProps {
  readonly onDone: (session: Session) => void;
  readonly onCodeNeeded: (credentials: Credentials) => void;
}

export function PasswordStep({ onDone, onCodeNeeded }: PasswordStepProps) {
  // Before the first render is committed, which removes the form of `index.html`.
  const [boot] = useState(readBootInput);
  const [email, setEmail] = useState(boot.email);
  const [password, setPassword] = useState(boot.password);
  const passwordInput = useRef<HTMLInputElement>(null);
  const signIn = useMutation({
    mutationFn: () => call('signIn', { body: { email, password } }),
    onSuccess: (answer) => {
      if (answer.mfaRequired) onCodeNeeded({ email, password });
      else onDone(answer);
    },
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, for what was done before this page was loaded
  useEffect(() => {
    if (boot.focus === 'password') passwordInput.current?.focus();
    if (boot.submitted) signIn.mutate();
  }, []);
  const wait = useWait(signIn.error);
  return (
    <Form
      mutation={signIn}
      fields={['email', 'password']}
      submit={wait > 0 ? `Wait ${wait} s` : 'Sign in'}
      submitDisabledReason={wait > 0 ? `Too many attempts; try again in ${wait} seconds` : undefined}
      wide
    >
      <Field label="Email" error={fieldError(signIn.error, 'email')}>
        <TextInput
          type="email"
          name="email"
          autoComplete="username"
          autoFocus
          value={email}
          onChange={(event) => setEmail(event.target.value)}
        />
      </Field>
      <Field label="Password" error={fieldError(signIn.error, 'password')}>
        <PasswordInput
          ref={passwordInput}
          name="password"
          autoComplete="current-password"
          value={password}
          onChange={(event) => setPassword(event.target.value)}
        />
      </Field>
    </Form>
  );
}

/** Seconds until the server accepts another attempt, counted down. */
export const useWait = (error: unknown): number => {
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
