import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import { Link, useLocation, useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { type Answer, call, operationQuery } from '../../model/client.ts';
import { NewPasswordField } from '../../model/credential-fields.tsx';
import { PublicFrame } from '../../model/public-frame.tsx';
import { queryClient } from '../../model/query-client.ts';
import { enter } from '../../model/session.ts';
import { ApiError } from '../../ui/errors.ts';
import { Field, Form, TextInput } from '../../ui/form.tsx';
import { Loaded, Notice } from '../../ui/states.tsx';

export function InvitationPage() {
  const token = useLocation({ select: (location) => location.hash });
  const invitation = useQuery({ ...operationQuery('getInvitation', { body: { token } }), retry: false });
  return (
    <LinkPage
      title={invitation.data ? `Join ${invitation.data.companyName}` : 'Invitation'}
      query={invitation}
      invalid={{
        title: 'This invitation is no longer valid',
        advice: 'It was used or revoked, or it has expired. Ask for a new invitation.',
      }}
    >
      {({ email, role, invitedBy }) => (
        <>
          <p>
            {invitedBy} invited you as <strong>{role}</strong>. You will sign in with <strong>{email}</strong>
            .
          </p>
          <JoinForm token={token} email={email} />
        </>
      )}
    </LinkPage>
  );
}

function JoinForm({ token, email }: { readonly token: string; readonly email: string }) {
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const navigate = useNavigate();
  const start = (session: Answer<'acceptInvitation'>): void => {
    enter(session);
    void navigate({ to: '/' });
  };
  return (
    <Form
      act={() => call('acceptInvitation', { body: { token, name, password } })}
      onDone={start}
      submit="Join and sign in"
      wide
    >
      <Field label="Your name" name="name">
        <TextInput autoComplete="name" value={name} onValue={setName} />
      </Field>
      <NewPasswordField
        label="Choose a password"
        name="password"
        email={email}
        value={password}
        onChange={setPassword}
        hint="If you already use this address in another company, choose the same password to sign in to both at once."
      />
    </Form>
  );
}

export function PasswordPage() {
  const token = useLocation({ select: (location) => location.hash });
  const reset = useQuery({ ...operationQuery('getPasswordReset', { body: { token } }), retry: false });
  return (
    <LinkPage
      title="Choose a new password"
      query={reset}
      invalid={{
        title: 'This link is no longer valid',
        advice: 'It was used or replaced, or it has expired. Ask for a new link.',
      }}
    >
      {({ email, companyName }) => (
        <>
          <p>
            For <strong>{email}</strong> at {companyName}. All your sessions there end; sign in again with the
            new password.
          </p>
          <PasswordForm token={token} email={email} />
        </>
      )}
    </LinkPage>
  );
}

function PasswordForm({ token, email }: { readonly token: string; readonly email: string }) {
  const [password, setPassword] = useState('');
  const navigate = useNavigate();
  const signIn = (): void => {
    // The reset may have ended the session of this browser, so the cached one is dropped.
    queryClient.clear();
    void navigate({ to: '/sign-in', search: { why: 'new-password' } });
  };
  return (
    <Form
      act={() => call('resetPassword', { body: { token, password } })}
      onDone={signIn}
      submit="Set new password"
      wide
    >
      <NewPasswordField
        label="New password"
        name="password"
        email={email}
        value={password}
        onChange={setPassword}
      />
    </Form>
  );
}

interface LinkPageProps<T> {
  readonly title: string;
  readonly query: UseQueryResult<T>;
  readonly invalid: { readonly title: string; readonly advice: string };
  readonly children: (data: T) => ReactNode;
}

function LinkPage<T>({ title, query, invalid, children }: LinkPageProps<T>) {
  const { error } = query;
  const refused = error instanceof ApiError && error.status >= 400 && error.status < 500;
  return (
    <PublicFrame title={title}>
      {refused ? (
        <>
          <Notice tone="warn" title={invalid.title}>
            {invalid.advice}
          </Notice>
          <Link to="/sign-in">Go to sign-in</Link>
        </>
      ) : (
        <Loaded query={query}>{children}</Loaded>
      )}
    </PublicFrame>
  );
}
