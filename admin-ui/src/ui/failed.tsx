import { CircleAlert } from 'lucide-react';
import { ApiError, errorText } from '../errors.ts';
import { Button } from './button.tsx';
import s from './states.module.css';

interface FailedProps {
  readonly error: unknown;
  readonly retry?: () => void;
}

/** A failed query: the server's message and a retry button. */
export function Failed({ error, retry }: FailedProps) {
  const id = error instanceof ApiError ? error.requestId : null;
  const missing = error instanceof ApiError && error.status === 404;
  return (
    <div className={s.state} role="alert">
      <div className={s.icon}>
        <CircleAlert />
      </div>
      <p className={s.title}>{missing ? 'This does not exist or was deleted' : 'This could not be loaded'}</p>
      {!missing && <p className={s.text}>{errorText(error)}</p>}
      {id !== null && !missing && (
        <p className={s.text}>
          Request <code>{id}</code>
        </p>
      )}
      {missing && (
        <div className={s.action}>
          <Button onClick={() => history.back()}>Go back</Button>
        </div>
      )}
      {retry && !missing && (
        <div className={s.action}>
          <Button onClick={retry}>Try again</Button>
        </div>
      )}
    </div>
  );
}
