import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useLocation, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { call } from '../../api/client.ts';
import { ApiError, fieldError } from '../../api/errors.ts';
import { operationQuery } from '../../api/query.ts';
import { enter } from '../../app/session.ts';
import { Field, PasswordInput, TextInput } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Failed, SkeletonLines } from '../../ui/states.tsx';
import { PublicFrame } from '../sign-in/public-frame.tsx';

export function InvitationPage() {
  const token = useLocation({ select: (location) => location.hash });
  const invitation = useQuery({ ...operationQuery('getInvitation', { body: { token } }), retry: false });
  const { data, error } = invitation;
  if (data) {
    return (
      <PublicFrame title={`Join ${data.companyName}`}>
        <p>
          {data.invitedBy} invites you as <strong>{data.role}</strong>. You will sign in with{' '}
          <strong>{data.email}</strong>.
        </p>
        <Join token={token} email={data.email} />
      </PublicFrame>
    );
  }
  return (
    <PublicFrame title="Invitation">
      {error ? (
        error instanceof ApiError && error.status >= 400 && error.status < 500 ? (
          <>
            <Notice tone="warn" title="This invitation is no longer valid">
              It was used, revoked or has expired. Ask for a new invitation.
            </Notice>
            <Link to="/sign-in">Go to the sign-in</Link>
          </>
        ) : (
          <Failed error={error} retry={() => void invitation.refetch()} />
        )
      ) : (
        <SkeletonLines lines={4} />
      )}
    </PublicFrame>
  );
}

function Join({ token, email }: { readonly token: string; readonly email: string }) {
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const accept = useMutation({
    mutationFn: () => call('acceptInvitation', { body: { token, name, password } }),
    onSuccess: (session) => {
      enter(queryClient, session);
      void navigate({ to: '/' });
    },
  });
  return (
    <Form
      onSubmit={() => accept.mutate()}
      pending={accept.isPending}
      error={accept.error}
      fields={['name', 'password']}
      submit="Join and sign in"
      wide
    >
      <input type="hidden" name="username" autoComplete="username" value={email} readOnly />
      <Field label="Your name" error={fieldError(accept.error, 'name')}>
        <TextInput autoComplete="name" value={name} onChange={(event) => setName(event.target.value)} />
      </Field>
      <Field
        label="Choose a password"
        error={fieldError(accept.error, 'password')}
        hint="At least 12 characters, such as a few words in a row. If you use this address in another company, choose the same password to sign in to both at once."
      >
        <PasswordInput
          autoComplete="new-password"
          value={password}
          onChange={(event) => setPassword(event.target.value)}
        />
      </Field>
    </Form>
  );
}
