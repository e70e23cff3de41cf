import { type ReactNode, useState } from 'react';
import { FactorField, useFactor } from '../../app/factor-field.tsx';
import { fieldError } from '../../errors.ts';
import { Button } from '../../ui/button.tsx';
import { Field, PasswordInput } from '../../ui/field.tsx';
import { Form, type Mutation } from '../../ui/form.tsx';

export interface Proof {
  readonly password: string;
  readonly totp?: string;
  readonly recoveryCode?: string;
}

interface PasswordFormProps {
  /** Also asks for a code of the second factor. */
  readonly withFactor?: boolean;
  readonly submit: string;
  readonly danger?: boolean;
  readonly mutation: Mutation<Proof>;
  readonly onClose: () => void;
  readonly children?: ReactNode;
}

/** Asks for the password again before the second factor changes. */
export function PasswordForm(props: PasswordFormProps) {
  const { withFactor = false, submit, danger = false, mutation, onClose, children } = props;
  const { error } = mutation;
  const [password, setPassword] = useState('');
  const factor = useFactor();
  return (
    <Form
      mutation={mutation}
      onSubmit={() => mutation.mutate({ password, ...(withFactor && factor.given) })}
      fields={['password', 'totp', 'recoveryCode']}
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
      {withFactor && <FactorField factor={factor} error={(field) => fieldError(error, field)} />}
    </Form>
  );
}
