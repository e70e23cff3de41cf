import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useLocation, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { call, operationQuery, useMutation } from '../../api/client.ts';
import { NewPasswordField } from '../../app/new-password-field.tsx';
import { fieldError } from '../../errors.ts';
import { Form } from '../../ui/form.tsx';
import { LinkPage } from './link-page.tsx';

/** Opened from a password reset link. */
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
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const choose = useMutation({
    mutationFn: () => call('resetPassword', { body: { token, password } }),
    gcTime: 0,
    onSuccess: () => {
      // The reset may have ended the session of this browser, so the cached one is dropped.
      queryClient.clear();
      void navigate({ to: '/sign-in', search: { why: 'new-password' } });
    },
  });
  return (
    <Form mutation={choose} fields={['password']} submit="Set new password" wide>
      <NewPasswordField
        label="New password"
        email={email}
        value={password}
        onChange={setPassword}
        error={fieldError(choose.error, 'password')}
      />
    </Form>
  );
}
