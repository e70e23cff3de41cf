import { type FormEvent, type ReactNode, useEffect, useRef } from 'react';
import { errorText, isFieldError } from '../errors.ts';
import { Button } from './button.tsx';
import s from './form.module.css';
import { Notice } from './notice.tsx';

interface FormProps {
  readonly onSubmit: () => void;
  readonly pending: boolean;
  /** The error of the last submit. Shown here unless the fields show all of it. */
  readonly error: unknown;
  /** Fields that show their own errors from the server's details. */
  readonly fields?: readonly string[];
  readonly submit: string;
  readonly submitDisabledReason?: string | undefined;
  readonly danger?: boolean;
  readonly wide?: boolean;
  /** Further buttons, before the submitting one. */
  readonly secondary?: ReactNode;
  readonly children: ReactNode;
}

/** The frame of every form: shows errors and a submit button with its pending state, and prevents double submits. */
export function Form(props: FormProps) {
  const { onSubmit, pending, error, fields = [], submit, danger, wide, secondary, children } = props;
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (error) showFirstProblem(form.current);
  }, [error]);
  const send = (event: FormEvent): void => {
    event.preventDefault();
    event.stopPropagation();
    if (!pending && props.submitDisabledReason === undefined) onSubmit();
  };
  return (
    <form ref={form} className={s.form} onSubmit={send} noValidate>
      {children}
      {error != null && !isFieldError(error, fields) && (
        <div data-problem>
          <Notice tone="bad">{errorText(error)}</Notice>
        </div>
      )}
      <div className={s.buttons}>
        {secondary}
        <Button
          type="submit"
          variant={danger ? 'danger' : 'primary'}
          pending={pending}
          disabledReason={props.submitDisabledReason}
          wide={wide}
        >
          {submit}
        </Button>
      </div>
    </form>
  );
}

/** Scrolls to the first problem, a field, a group or the message of the form, and focuses its control. */
const showFirstProblem = (form: HTMLFormElement | null): void => {
  const problem = form?.querySelector<HTMLElement>('[aria-invalid="true"], [data-problem]');
  if (!problem) return;
  const control = problem.matches('fieldset') ? problem.querySelector('input') : problem;
  control?.focus({ preventScroll: true });
  problem.scrollIntoView({ block: problem.offsetHeight < innerHeight / 2 ? 'center' : 'start' });
};
