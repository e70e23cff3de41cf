import clsx from 'clsx';
import { Eye, EyeOff } from 'lucide-react';
import {
  type ComponentPropsWithRef,
  cloneElement,
  type ReactElement,
  type ReactNode,
  useId,
  useState,
} from 'react';
import s from './field.module.css';

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

/** A labelled control with its hint and its error, tied together for assistive technology. */
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

export function TextInput({ className, mono, ...rest }: ComponentPropsWithRef<'input'> & { mono?: boolean }) {
  return (
    <input type="text" autoComplete="off" {...rest} className={clsx(s.input, mono && s.mono, className)} />
  );
}

export function TextArea({
  className,
  mono,
  ...rest
}: ComponentPropsWithRef<'textarea'> & { mono?: boolean }) {
  return <textarea rows={4} {...rest} className={clsx(s.input, s.area, mono && s.mono, className)} />;
}

export function Select({ className, ...rest }: ComponentPropsWithRef<'select'>) {
  return <select {...rest} className={clsx(s.input, s.select, className)} />;
}

export function PasswordInput(props: ComponentPropsWithRef<'input'>) {
  const [shown, setShown] = useState(false);
  return (
    <span className={s.password}>
      <input {...props} type={shown ? 'text' : 'password'} spellCheck={false} className={s.input} />
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
