import { useQueryClient } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { WifiOff } from 'lucide-react';
import { useEffect } from 'react';
import { serverAnswers, useReachability } from '../../reachability.ts';
import { TimeAgo } from '../../ui/time-ago.tsx';
import s from './offline-bar.module.css';

const firstRetryMs = 700;
const retryMs = 3000;

/** Says that the server cannot be reached and how old the data is. When it answers again, the page reloads its data. */
export function OfflineBar() {
  const { reachable, lastAnswerMs } = useReachability();
  const queryClient = useQueryClient();
  const router = useRouter();
  useEffect(() => {
    if (reachable) return;
    const ask = async (): Promise<void> => {
      if (!(await serverAnswers())) return;
      void queryClient.invalidateQueries();
      void router.invalidate();
    };
    // The first soon, because most interruptions are short.
    const first = setTimeout(() => void ask(), firstRetryMs);
    const timer = setInterval(() => void ask(), retryMs);
    addEventListener('online', ask);
    return () => {
      clearTimeout(first);
      clearInterval(timer);
      removeEventListener('online', ask);
    };
  }, [reachable, queryClient, router]);
  return (
    <div role="status">
      {!reachable && (
        <p className={s.bar}>
          <WifiOff size={16} />
          <span>
            The server cannot be reached. You see data from{' '}
            <TimeAgo time={new Date(lastAnswerMs).toISOString()} />; the page updates when the server answers
            again.
          </span>
        </p>
      )}
    </div>
  );
}
