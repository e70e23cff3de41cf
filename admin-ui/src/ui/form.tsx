import clsx from 'clsx';
import { Eye, EyeOff } from 'lucide-react';
import {
  type ComponentPropsWithRef,
  cloneElement,
  type FormEvent,
  type ReactElement,
  type ReactNode,
  useEffect,
  useId,
  useRef,
  useState,
} from 'react';
import { errorText, isFieldError } from '../errors.ts';
import { Button } from './button.tsx';
import s from './form.module.css';
import { Notice } from './states.tsx';

export interface Mutation<Input> {
  readonly isPending: boolean;
  readonly error: unknown;
  readonly mutate: (input: Input) => void;
}

export type Submission =
  | { readonly mutation: Mutation<void>; readonly onSubmit?: undefined }
  | { readonly mutation: Mutation<never>; readonly onSubmit: () => void };

export const send = (submission: Submission): void => {
  if (submission.onSubmit) submission.onSubmit();
  else submission.mutation.mutate();
};

type FormProps = Submission & {
  readonly fields?: readonly string[];
  readonly submit: string;
  readonly submitDisabledReason?: string | undefined;
  readonly danger?: boolean;
  readonly wide?: boolean;
  readonly secondary?: ReactNode;
  readonly onCancel?: () => void;
  readonly children: ReactNode;
};

export function Form(props: FormProps) {
  const { fields = [], submit, danger, wide, secondary, onCancel, children } = props;
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
        {onCancel && <Button onClick={onCancel}>Cancel</Button>}
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

interface FieldProps {
  readonly label: string;
  readonly hint?: ReactNode;
  readonly error?: string | undefined;
  readonly optional?: boolean;
  /** Shows the label to screen readers only, if its position explains it. */
  readonly hideLabel?: boolean;
  readonly children: ReactElement<{
    id?: string;
    'aria-describedby'?: string | undefined;
    'aria-invalid'?: boolean | undefined;
  }>;
}

export function Field({ label, hint, error, optional, hideLabel, children }: FieldProps) {
  const id = useId();
  const described = clsx(hint !== undefined && `${id}-hint`, error && `${id}-error`) || undefined;
  return (
    <div className={s.field}>
      <label htmlFor={id} className={hideLabel ? 'visually-hidden' : s.label}>
        {label}
        {optional && <span className={s.optional}>optional</span>}
      </label>
      {cloneElement(children, {
        id,
        'aria-describedby': described,
        'aria-invalid': error ? true : undefined,
      })}
      {error && (
        <p id={`${id}-error`} className={s.error}>
          {error}
        </p>
      )}
      {hint !== undefined && (
        <p id={`${id}-hint`} className={s.hint}>
          {hint}
        </p>
      )}
    </div>
  );
}

type Control<Element extends 'input' | 'textarea' | 'select'> = ComponentPropsWithRef<Element> & {
  readonly mono?: boolean;
  readonly onValue?: (value: string) => void;
};

const valueHandler = (onValue?: (value: string) => void) =>
  onValue && {
    onChange: (event: { readonly target: { readonly value: string } }) => onValue(event.target.value),
  };

export function TextInput({ className, mono, onValue, ...rest }: Control<'input'>) {
  const classes = clsx(s.input, mono && s.mono, className);
  return <input type="text" autoComplete="off" {...rest} {...valueHandler(onValue)} className={classes} />;
}

export function TextArea({ className, mono, onValue, ...rest }: Control<'textarea'>) {
  const classes = clsx(s.input, s.area, mono && s.mono, className);
  return <textarea rows={4} {...rest} {...valueHandler(onValue)} className={classes} />;
}

interface Option {
  readonly value: string | number;
  readonly label: string;
}

export function Select({
  options,
  onValue,
  ...rest
}: Control<'select'> & { readonly options: readonly Option[] }) {
  return (
    <select {...rest} {...valueHandler(onValue)} className={clsx(s.input, s.select)}>
      {options.map(({ value, label }) => (
        <option key={value} value={value}>
          {label}
        </option>
      ))}
    </select>
  );
}

export function PasswordInput({ onValue, ...rest }: Control<'input'>) {
  const [shown, setShown] = useState(false);
  return (
    <span className={s.password}>
      <input
        {...rest}
        {...valueHandler(onValue)}
        type={shown ? 'text' : 'password'}
        spellCheck={false}
        className={s.input}
      />
      <button
        type="button"
        aria-label={shown ? 'Hide password' : 'Show password'}
        aria-pressed={shown}
        onClick={() => setShown(!shown)}
      >
        {shown ? <EyeOff size={16} /> : <Eye size={16} />}
      </button>
    </span>
  );
}

interface ChoiceProps extends Omit<ComponentPropsWithRef<'input'>, 'children'> {
  readonly label: ReactNode;
  readonly description?: ReactNode;
}

function Choice({ label, description, className, ...rest }: ChoiceProps) {
  const id = useId();
  return (
    <div className={clsx(s.choice, className)}>
      <input {...rest} id={id} aria-describedby={description === undefined ? undefined : `${id}-more`} />
      <div>
        <label htmlFor={id}>{label}</label>
        {description !== undefined && <p id={`${id}-more`}>{description}</p>}
      </div>
    </div>
  );
}

export const Checkbox = (props: ChoiceProps) => <Choice {...props} type="checkbox" />;
export const Radio = (props: ChoiceProps) => <Choice {...props} type="radio" />;

interface FieldsetProps {
  readonly legend: string;
  readonly hint?: ReactNode;
  readonly error?: string | undefined;
  readonly children: ReactNode;
}

export function Fieldset({ legend, hint, error, children }: FieldsetProps) {
  const id = useId();
  return (
    <fieldset
      className={s.field}
      aria-describedby={error ? id : undefined}
      data-problem={error ? '' : undefined}
    >
      <legend className={s.label}>{legend}</legend>
      {hint !== undefined && <p className={s.hint}>{hint}</p>}
      {error && (
        <p id={id} className={s.error}>
          {error}
        </p>
      )}
      {children}
    </fieldset>
  );
}
