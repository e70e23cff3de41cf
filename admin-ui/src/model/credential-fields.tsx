import { minPasswordCharacters } from '@causeway/proto/passwords';
import { useState } from 'react';
import { Button } from '../ui/button.tsx';
import { Field, PasswordInput, TextInput } from '../ui/form.tsx';
import { Stack } from '../ui/layout.tsx';

type Factor = ReturnType<typeof useFactor>;

/** @param recoveryOnly the person has no authenticator app. */
export const useFactor = (recoveryOnly = false) => {
  const [recovery, setRecovery] = useState(recoveryOnly);
  const [code, setCode] = useState('');
  return {
    recovery,
    code,
    given: recovery ? { recoveryCode: code } : { totp: code },
    setCode,
    swap: () => {
      setRecovery(!recovery);
      setCode('');
    },
  };
};

interface FactorFieldProps {
  readonly factor: Factor;
  readonly autoFocus?: boolean;
  readonly recoveryOnly?: boolean;
}

export function FactorField({ factor, autoFocus = false, recoveryOnly = false }: FactorFieldProps) {
  const { recovery, code, setCode, swap } = factor;
  return (
    <Stack gap="s">
      <Field
        key={String(recovery)}
        label={recovery ? 'Recovery code' : 'Code from your authenticator app'}
        name={recovery ? 'recoveryCode' : 'totp'}
        hint={recovery ? 'Each recovery code works once.' : 'The 6-digit code the app shows now.'}
      >
        <TextInput
          mono
          autoComplete={recovery ? 'off' : 'one-time-code'}
          inputMode={recovery ? 'text' : 'numeric'}
          autoFocus={autoFocus}
          value={code}
          onValue={setCode}
        />
      </Field>
      {!recoveryOnly && (
        <div>
          <Button variant="ghost" size="s" onClick={swap}>
            {recovery ? 'Use the app' : 'Use a recovery code'}
          </Button>
        </div>
      )}
    </Stack>
  );
}

interface NewPasswordFieldProps {
  readonly label: string;
  readonly name: string;
  readonly email: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly hint?: string;
}

export function NewPasswordField({ label, name, email, value, onChange, hint }: NewPasswordFieldProps) {
  return (
    <>
      <input type="hidden" name="username" autoComplete="username" value={email} readOnly />
      <Field
        label={label}
        name={name}
        hint={[
          `At least ${minPasswordCharacters} characters. A few random words are easier to remember than symbols.`,
          hint,
        ]
          .filter(Boolean)
          .join(' ')}
      >
        <PasswordInput autoComplete="new-password" value={value} onValue={onChange} />
      </Field>
    </>
  );
}
