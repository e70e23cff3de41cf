import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useLocation, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { call, operationQuery, useMutation } from '../../api/client.ts';
import { NewPasswordField } from '../../app/new-password-field.tsx';
import { enter } from '../../app/session.ts';
import { fieldError } from '../../errors.ts';
import { Field, Form, TextInput } from '../../ui/form.tsx';
import { LinkPage } from './link-page.tsx';

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
    <Form mutation={accept} fields={['name', 'password']} submit="Join and sign in" wide>
      <Field label="Your name" error={fieldError(accept.error, 'name')}>
        <TextInput autoComplete="name" value={name} onChange={(event) => setName(event.target.value)} />
      </Field>
      <NewPasswordField
        label="Choose a password"
        email={email}
        value={password}
        onChange={setPassword}
        error={fieldError(accept.error, 'password')}
        hint="If you already use this address in another company, choose the same password to sign in to both at once."
      />
    </Form>
  );
}
