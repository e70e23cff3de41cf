import { useState } from 'react';
import { Button } from '../ui/button.tsx';
import { Field, TextInput } from '../ui/form.tsx';
import { Stack } from '../ui/layout.tsx';

/** The code being typed: from the authenticator app, or a recovery code. */
interface Factor {
  readonly recovery: boolean;
  readonly code: string;
  /** The code in the format of the operations. */
  readonly given: { readonly totp: string } | { readonly recoveryCode: string };
  setCode(code: string): void;
  swap(): void;
}

export const useFactor = (): Factor => {
  const [recovery, setRecovery] = useState(false);
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
  readonly error: (field: 'totp' | 'recoveryCode') => string | undefined;
  readonly autoFocus?: boolean;
}

export function FactorField({ factor, error, autoFocus = false }: FactorFieldProps) {
  const { recovery, code, setCode, swap } = factor;
  return (
    <Stack gap="s">
      <Field
        key={String(recovery)}
        label={recovery ? 'Recovery code' : 'Code from your authenticator app'}
        error={error(recovery ? 'recoveryCode' : 'totp')}
        hint={recovery ? 'Each recovery code works once.' : 'The 6-digit code the app shows now.'}
      >
        <TextInput
          mono
          autoComplete={recovery ? 'off' : 'one-time-code'}
          inputMode={recovery ? 'text' : 'numeric'}
          autoFocus={autoFocus}
          value={code}
          onChange={(event) => setCode(event.target.value)}
        />
      </Field>
      <div>
        <Button variant="ghost" size="s" onClick={swap}>
          {recovery ? 'Use the app' : 'Use a recovery code'}
        </Button>
      </div>
    </Stack>
  );
}
