import { useState } from 'react';
import { fieldError } from '../../api/errors.ts';
import { FactorField, useFactor } from '../../app/factor-field.tsx';
import { Button } from '../../ui/button.tsx';
import { Field, PasswordInput } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';

export type FactorProof = { readonly password: string } & ReturnType<typeof useFactor>['given'];

interface PasswordAndFactorFormProps {
  readonly submit: string;
  readonly danger?: boolean;
  readonly pending: boolean;
  readonly error: unknown;
  readonly onSubmit: (proof: FactorProof) => void;
  readonly onClose: () => void;
}

/** Asks for the password and a code before the second factor changes. */
export function PasswordAndFactorForm(props: PasswordAndFactorFormProps) {
  const { submit, danger = false, pending, error, onSubmit, onClose } = props;
  const [password, setPassword] = useState('');
  const factor = useFactor();
  return (
    <Form
      onSubmit={() => onSubmit({ password, ...factor.given })}
      pending={pending}
      error={error}
      fields={['password', 'totp', 'recoveryCode']}
      submit={submit}
      danger={danger}
      secondary={<Button onClick={onClose}>Cancel</Button>}
    >
      <Field label="Your password" error={fieldError(error, 'password')}>
        <PasswordInput
          autoComplete="current-password"
          value={password}
          onChange={(event) => setPassword(event.target.value)}
        />
      </Field>
      <FactorField factor={factor} error={(field) => fieldError(error, field)} />
    </Form>
  );
}
