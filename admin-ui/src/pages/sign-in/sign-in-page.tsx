import { useQueryClient } from '@tanstack/react-query';
import { useRouter, useSearch } from '@tanstack/react-router';
import { Suspense, useState } from 'react';
import { PublicFrame } from '../../app/public-frame.tsx';
import { enter, type Session } from '../../app/session.ts';
import { lazyPart } from '../../ui/lazy-part.ts';
import { Notice } from '../../ui/notice.tsx';
import { type Credentials, PasswordStep } from './password-step.tsx';
import s from './sign-in-page.module.css';

/** The steps after the password load on demand. */
const CodeStep = lazyPart(
  () => import('./code-step.tsx'),
  (part) => part.CodeStep,
);
const ChooseCompany = lazyPart(
  () => import('./choose-company.tsx'),
  (part) => part.ChooseCompany,
);

export function SignInPage() {
  const { next, why } = useSearch({ from: '/sign-in' });
  const [credentials, setCredentials] = useState<Credentials | null>(null);
  const queryClient = useQueryClient();
  const router = useRouter();
  const [choices, setChoices] = useState<Session | null>(null);
  const start = (session: Session): void => {
    enter(queryClient, session);
    // A path may contain an id of the company it was opened in.
    const sameCompany = choices === null || choices.company.id === session.company.id;
    router.history.push(`/portal${(sameCompany && next) || '/'}`);
  };
  const done = (session: Session): void => {
    if (session.otherCompanies.length > 0) setChoices(session);
    else start(session);
  };
  if (choices)
    return (
      <PublicFrame title="Choose a company">
        <Suspense>
          <ChooseCompany session={choices} onDone={start} />
        </Suspense>
      </PublicFrame>
    );
  return (
    <PublicFrame title={credentials ? 'One more step' : 'Sign in'}>
      {why === 'ended' && !credentials && (
        <Notice tone="info">Your session ended. Sign in to continue where you left off.</Notice>
      )}
      {why === 'new-password' && !credentials && (
        <Notice tone="good">Your new password is set. Sign in with it.</Notice>
      )}
      {why === 'signed-out' && !credentials && <Notice tone="good">You are signed out.</Notice>}
      {credentials ? (
        <Suspense>
          <CodeStep credentials={credentials} onDone={done} onBack={() => setCredentials(null)} />
          <details className={s.lost}>
            <summary>Lost your phone and your recovery codes?</summary>
            <p>
              An owner of your company can turn off your two-factor sign-in on the Team page. If you are the
              only owner, ask the operator of this service.
            </p>
          </details>
        </Suspense>
      ) : (
        <>
          <PasswordStep onDone={done} onCodeNeeded={setCredentials} />
          <details className={s.lost}>
            <summary>Lost your password?</summary>
            <p>
              An owner or admin of your company can create a reset link for you on the Team page. If you are
              the only owner, ask the operator of this service.
            </p>
          </details>
        </>
      )}
    </PublicFrame>
  );
}
