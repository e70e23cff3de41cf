import { type FormEvent, type ReactNode, useEffect, useRef } from 'react';
import { errorText, isFieldError } from '../errors.ts';
import { Button } from './button.tsx';
import s from './form.module.css';
import { Notice } from './notice.tsx';

/** What a form or a confirmation sends, of a mutation of TanStack Query. */
export interface Mutation<Input> {
  readonly isPending: boolean;
  readonly error: unknown;
  readonly mutate: (input: Input) => void;
}

/** A mutation without input, or one that `onSubmit` gives its input. */
export type Submission =
  | { readonly mutation: Mutation<void>; readonly onSubmit?: undefined }
  | { readonly mutation: Mutation<never>; readonly onSubmit: () => void };

export const send = (submission: Submission): void => {
  if (submission.onSubmit) submission.onSubmit();
  else submission.mutation.mutate();
};

type FormProps = Submission & {
  /** Fields that show their own errors from the server's details. */
  readonly fields?: readonly string[];
  readonly submit: string;
  readonly submitDisabledReason?: string | undefined;
  readonly danger?: boolean;
  readonly wide?: boolean;
  /** Further buttons, before the submitting one. */
  readonly secondary?: ReactNode;
  readonly children: ReactNode;
};

/** The frame of every form: shows errors that no field shows, and a submit button with its pending state. */
export function Form(props: FormProps) {
  const { fields = [], submit, danger, wide, secondary, children } = props;
  const { isPending, error } = props.mutation;
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (error) showFirstProblem(form.current);
  }, [error]);
  const submitForm = (event: FormEvent): void => {
    event.preventDefault();
    event.stopPropagation();
    if (props.submitDisabledReason === undefined) send(props);
  };
  return (
    <form ref={form} className={s.form} onSubmit={submitForm} noValidate>
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
          pending={isPending}
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
