import { useRouter } from '@tanstack/react-router';
import { useState } from 'react';
import { knowsPasskeys } from '../../model/passkeys.ts';
import { ProveIdentity } from '../../model/prove-identity.tsx';
import { PublicFrame } from '../../model/public-frame.tsx';
import { useSession, useSignOut } from '../../model/session.ts';
import { Button } from '../../ui/button.tsx';
import { Stack } from '../../ui/layout.tsx';
import { AddPasskey } from './passkeys.tsx';
import { EnableTotp } from './two-factor.tsx';

export function SecondFactorPage() {
  const { company, features } = useSession();
  const companyName = company.name;
  const [shown, setShown] = useState<'passkey' | 'app' | null>(null);
  const router = useRouter();
  const signOut = useSignOut();
  // The router leaves this page once the session has a factor.
  const close = (): void => {
    setShown(null);
    void router.invalidate();
  };
  const withPasskeys = features.passkeyHost !== null && knowsPasskeys();
  return (
    <PublicFrame title="Set up a second factor">
      <p>
        {companyName} requires a second factor: a stolen password alone then opens nothing. Choose one to
        continue.
      </p>
      <Stack>
        {withPasskeys && (
          <Button wide variant="primary" onClick={() => setShown('passkey')}>
            Add a passkey
          </Button>
        )}
        <Button wide variant={withPasskeys ? 'secondary' : 'primary'} onClick={() => setShown('app')}>
          Use an authenticator app
        </Button>
        <Button wide variant="ghost" pending={signOut.isPending} onClick={() => signOut.mutate()}>
          Sign out
        </Button>
      </Stack>
      <AddPasskey open={shown === 'passkey'} onClose={close} />
      <EnableTotp open={shown === 'app'} onClose={close} />
      <ProveIdentity />
    </PublicFrame>
  );
}
