import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../../api/client.ts';
import { fieldError } from '../../api/errors.ts';
import type { Session } from '../../app/session.ts';
import { Button } from '../../ui/Button.tsx';
import { Field, TextInput } from '../../ui/Field.tsx';
import { Form } from '../../ui/Form.tsx';
import type { Credentials } from './SignInPage.tsx';
import { useWait } from './wait.ts';

interface CodeStepProps {
  readonly credentials: Credentials;
  readonly onDone: (session: Session) => void;
  readonly onBack: () => void;
}

/** The second factor: a code of the app, or one of the recovery codes. */
export function CodeStep({ credentials, onDone, onBack }: CodeStepProps) {
  const [recovery, setRecovery] = useState(false);
  const [code, setCode] = useState('');
  const signIn = useMutation({
    mutationFn: () =>
      call('signIn', { body: { ...credentials, ...(recovery ? { recoveryCode: code } : { totp: code }) } }),
    onSuccess: (answer) => {
      if (!answer.mfaRequired) onDone(answer);
    },
  });
  const wait = useWait(signIn.error);
  const swap = (): void => {
    setRecovery(!recovery);
    setCode('');
    signIn.reset();
  };
  return (
    <Form
      onSubmit={() => signIn.mutate()}
      pending={signIn.isPending}
      error={signIn.error}
      fields={['totp', 'recoveryCode']}
      submit={wait > 0 ? `Wait ${wait} s` : 'Continue'}
      submitDisabledReason={wait > 0 ? `Too many tries; the next is possible in ${wait} seconds` : undefined}
      secondary={
        <>
          <Button variant="ghost" onClick={onBack}>
            Back
          </Button>
          <Button variant="ghost" onClick={swap}>
            {recovery ? 'Use the app' : 'Use a recovery code'}
          </Button>
        </>
      }
    >
      <Field
        key={String(recovery)}
        label={recovery ? 'Recovery code' : 'Code from your authenticator app'}
        error={fieldError(signIn.error, recovery ? 'recoveryCode' : 'totp')}
        hint={recovery ? 'Each of your recovery codes works once.' : '6 digits, new every 30 seconds.'}
      >
        <TextInput
          mono
          autoComplete={recovery ? 'off' : 'one-time-code'}
          inputMode={recovery ? 'text' : 'numeric'}
          autoFocus
          value={code}
          onChange={(event) => setCode(event.target.value)}
        />
      </Field>
    </Form>
  );
}
