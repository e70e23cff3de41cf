import { call, useMutation } from '../../api/client.ts';
import { FactorField, useFactor } from '../../app/factor-field.tsx';
import type { Session } from '../../app/session.ts';
import { fieldError } from '../../errors.ts';
import { Button } from '../../ui/button.tsx';
import { Form } from '../../ui/form.tsx';
import { type Credentials, useWait } from './password-step.tsx';

interface CodeStepProps {
  readonly credentials: Credentials;
  readonly onDone: (session: Session) => void;
  readonly onBack: () => void;
}

/** The second factor: a code of the app, or one of the recovery codes. */
export function CodeStep({ credentials, onDone, onBack }: CodeStepProps) {
  const factor = useFactor();
  const signIn = useMutation({
    mutationFn: () => call('signIn', { body: { ...credentials, ...factor.given } }),
    onSuccess: (answer) => {
      if (!answer.mfaRequired) onDone(answer);
    },
  });
  const wait = useWait(signIn.error);
  const swap = (): void => {
    factor.swap();
    signIn.reset();
  };
  return (
    <Form
      mutation={signIn}
      fields={['totp', 'recoveryCode']}
      submit={wait > 0 ? `Wait ${wait} s` : 'Continue'}
      submitDisabledReason={wait > 0 ? `Too many attempts; try again in ${wait} seconds` : undefined}
      secondary={
        <Button variant="ghost" onClick={onBack}>
          Back
        </Button>
      }
    >
      <FactorField
        factor={{ ...factor, swap }}
        error={(field) => fieldError(signIn.error, field)}
        autoFocus
      />
    </Form>
  );
}
