import { useEffect, useState } from 'react';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Field, Form, PasswordInput } from '../ui/form.tsx';
import { Stack } from '../ui/layout.tsx';
import { call, onProofRequired, useMutation } from './client.ts';
import { FactorField, useFactor } from './credential-fields.tsx';
import { knowsPasskeys, proveByPasskey } from './passkeys.ts';
import { useSession } from './session.ts';

/** Asks who is there when a call needs a recent proof, and lets the call go on. */
export function ProveIdentity() {
  const [settle, setSettle] = useState<((proven: boolean) => void) | null>(null);
  useEffect(() => {
    onProofRequired(() => new Promise((resolve) => setSettle(() => resolve)));
  }, []);
  const end = (proven: boolean): void => {
    settle?.(proven);
    setSettle(null);
  };
  return (
    <Dialog
      open={settle !== null}
      onClose={() => end(false)}
      title="Confirm that it is you"
      description="This changes who can do what. You are asked again after some minutes."
      size="s"
    >
      {settle && <Proof onDone={() => end(true)} onCancel={() => end(false)} />}
    </Dialog>
  );
}

function Proof({ onDone, onCancel }: { readonly onDone: () => void; readonly onCancel: () => void }) {
  const { totpEnabled, passkeys } = useSession().user;
  const withPasskey = passkeys > 0 && knowsPasskeys();
  const [byPassword, setByPassword] = useState(!withPasskey);
  const [password, setPassword] = useState('');
  const factor = useFactor(!totpEnabled);
  const prove = useMutation({
    mutationFn: async () => {
      if (!byPassword) return proveByPasskey();
      const code = totpEnabled || passkeys > 0 ? factor.given : {};
      return call('proveIdentity', { body: { password, ...code } });
    },
    onSuccess: onDone,
  });
  const swap = (): void => {
    setByPassword(!byPassword);
    prove.reset();
  };
  return (
    <Form
      mutation={prove}
      onSubmit={() => prove.mutate()}
      submit={byPassword ? 'Confirm' : 'Use passkey'}
      onCancel={onCancel}
    >
      {byPassword && (
        <Stack>
          <Field label="Your password" name="password">
            <PasswordInput autoComplete="current-password" value={password} onValue={setPassword} />
          </Field>
          {(totpEnabled || passkeys > 0) && <FactorField factor={factor} recoveryOnly={!totpEnabled} />}
        </Stack>
      )}
      {withPasskey && (
        <div>
          <Button variant="ghost" size="s" onClick={swap}>
            {byPassword ? 'Use a passkey' : 'Use your password'}
          </Button>
        </div>
      )}
    </Form>
  );
}
