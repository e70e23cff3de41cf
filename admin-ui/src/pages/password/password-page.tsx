import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useLocation, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { call } from '../../api/client.ts';
import { ApiError, fieldError } from '../../api/errors.ts';
import { operationQuery } from '../../api/query.ts';
import { Field, PasswordInput } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Failed, SkeletonLines } from '../../ui/states.tsx';
import { PublicFrame } from '../sign-in/public-frame.tsx';

/** Where the link leads that a member who lost the password was handed. */
export function PasswordPage() {
  const token = useLocation({ select: (location) => location.hash });
  const reset = useQuery({ ...operationQuery('getPasswordReset', { body: { token } }), retry: false });
  const { data, error } = reset;
  const isOver = error instanceof ApiError && error.status >= 400 && error.status < 500;
  return (
    <PublicFrame title="Choose a new password">
      {data && <Choose token={token} email={data.email} company={data.companyName} />}
      {!data && isOver && (
        <>
          <Notice tone="warn" title="This link is no longer valid">
            It was used, replaced, or has run out. Ask whoever made it for a new one.
          </Notice>
          <Link to="/sign-in">Go to the sign-in</Link>
        </>
      )}
      {!data && error && !isOver && <Failed error={error} retry={() => void reset.refetch()} />}
      {!data && !error && <SkeletonLines lines={4} />}
    </PublicFrame>
  );
}

interface ChooseProps {
  readonly token: string;
  readonly email: string;
  readonly company: string;
}

function Choose({ token, email, company }: ChooseProps) {
  const [password, setPassword] = useState('');
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const choose = useMutation({
    mutationFn: () => call('resetPassword', { body: { token, password } }),
    gcTime: 0,
    onSuccess: () => {
      // Whoever was signed in here may have been the same person, and is not any more: it is asked anew.
      queryClient.clear();
      void navigate({ to: '/sign-in', search: { why: 'new-password' } });
    },
  });
  return (
    <>
      <p>
        For <strong>{email}</strong> at {company}. You are signed out everywhere, and sign in with the new
        one.
      </p>
      <Form
        onSubmit={() => choose.mutate()}
        pending={choose.isPending}
        error={choose.error}
        fields={['password']}
        submit="Set the new password"
        wide
      >
        <input type="hidden" name="username" autoComplete="username" value={email} readOnly />
        <Field
          label="New password"
          error={fieldError(choose.error, 'password')}
          hint="At least 12 characters. A few words in a row are easier to remember than signs."
        >
          <PasswordInput
            autoComplete="new-password"
            value={password}
            onChange={(event) => setPassword(event.target.value)}
          />
        </Field>
      </Form>
    </>
  );
}
