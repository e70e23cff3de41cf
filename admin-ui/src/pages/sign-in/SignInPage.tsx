import { useQueryClient } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { useState } from 'react';
import { type Session, sessionQuery } from '../../app/session.ts';
import { Notice } from '../../ui/Notice.tsx';
import { CodeStep } from './CodeStep.tsx';
import { PasswordStep } from './PasswordStep.tsx';
import { PublicFrame } from './PublicFrame.tsx';
import { signInRoute } from './route.ts';

export interface Credentials {
  readonly email: string;
  readonly password: string;
}

export function SignInPage() {
  const { next, why } = signInRoute.useSearch();
  const [credentials, setCredentials] = useState<Credentials | null>(null);
  const queryClient = useQueryClient();
  const router = useRouter();
  const enter = (session: Session): void => {
    queryClient.setQueryData(sessionQuery.queryKey, session);
    router.history.push(`/portal${next ?? '/'}`);
  };
  return (
    <PublicFrame title={credentials ? 'One more step' : 'Sign in'}>
      {why === 'ended' && !credentials && (
        <Notice tone="info">Your session has ended. Sign in to go on where you were.</Notice>
      )}
      {why === 'signed-out' && !credentials && <Notice tone="good">You are signed out.</Notice>}
      {credentials ? (
        <CodeStep credentials={credentials} onDone={enter} onBack={() => setCredentials(null)} />
      ) : (
        <PasswordStep onDone={enter} onCodeNeeded={setCredentials} />
      )}
    </PublicFrame>
  );
}
