import { useQueryClient } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { useState } from 'react';
import { enter, type Session } from '../../app/session.ts';
import { Notice } from '../../ui/Notice.tsx';
import { CodeStep } from './CodeStep.tsx';
import { PasswordStep } from './PasswordStep.tsx';
import { PublicFrame } from './PublicFrame.tsx';
import { signInRoute } from './route.ts';
import s from './SignInPage.module.css';

export interface Credentials {
  readonly email: string;
  readonly password: string;
}

export function SignInPage() {
  const { next, why } = signInRoute.useSearch();
  const [credentials, setCredentials] = useState<Credentials | null>(null);
  const queryClient = useQueryClient();
  const router = useRouter();
  const done = (session: Session): void => {
    enter(queryClient, session);
    router.history.push(`/portal${next ?? '/'}`);
  };
  return (
    <PublicFrame title={credentials ? 'One more step' : 'Sign in'}>
      {why === 'ended' && !credentials && (
        <Notice tone="info">Your session has ended. Sign in to go on where you were.</Notice>
      )}
      {why === 'new-password' && !credentials && (
        <Notice tone="good">Your new password is set. Sign in with it.</Notice>
      )}
      {why === 'signed-out' && !credentials && <Notice tone="good">You are signed out.</Notice>}
      {credentials ? (
        <CodeStep credentials={credentials} onDone={done} onBack={() => setCredentials(null)} />
      ) : (
        <>
          <PasswordStep onDone={done} onCodeNeeded={setCredentials} />
          <details className={s.lost}>
            <summary>Lost your password?</summary>
            <p>
              An owner or admin of your company can make you a link for a new one, on the page Team. The last
              owner asks whoever runs this service.
            </p>
          </details>
        </>
      )}
    </PublicFrame>
  );
}
