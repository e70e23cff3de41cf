import { useEffect, useState } from 'react';
import { ApiError } from '../../errors.ts';

/** Seconds until the server accepts another attempt, counted down. */
export const useWait = (error: unknown): number => {
  const [left, setLeft] = useState(0);
  useEffect(() => {
    const seconds = error instanceof ApiError && error.status === 429 ? (error.retryAfterSeconds ?? 0) : 0;
    setLeft(seconds);
    if (seconds === 0) return;
    const timer = setInterval(() => setLeft((now) => Math.max(now - 1, 0)), 1000);
    return () => clearInterval(timer);
  }, [error]);
  return left;
};
