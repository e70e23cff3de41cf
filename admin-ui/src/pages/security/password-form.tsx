import { type ReactNode, useState } from 'react';
import { fieldError } from '../../api/errors.ts';
import { Button } from '../../ui/button.tsx';
import { Field, PasswordInput } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';

interface PasswordFormProps {
  readonly submit: string;
  readonly danger?: boolean;
  readonly pending: boolean;
  readonly error: unknown;
  readonly onSubmit: (password: string) => void;
  readonly onClose: () => void;
  readonly children?: ReactNode;
}

/** Asks for the password again before something that weighs. */
export function PasswordForm(props: PasswordFormProps) {
  const { submit, danger = false, pending, error, onSubmit, onClose, children } = props;
  const [password, setPassword] = useState('');
  return (
    <Form
      onSubmit={() => onSubmit(password)}
      pending={pending}
      error={error}
      fields={['password']}
      submit={submit}
      danger={danger}
      secondary={<Button onClick={onClose}>Cancel</Button>}
    >
      {children}
      <Field label="Your password" error={fieldError(error, 'password')}>
        <PasswordInput
          autoComplete="current-password"
          value={password}
          onChange={(event) => setPassword(event.target.value)}
        />
      </Field>
    </Form>
  );
}
