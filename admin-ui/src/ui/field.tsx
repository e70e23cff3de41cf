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
  /** Kept for screen readers only, where the place explains itself. */
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

interface SwitchProps extends Omit<ComponentPropsWithRef<'input'>, 'type'> {
  readonly label: string;
  readonly disabledReason?: string | undefined;
}

/** On or off, with effect at once. */
export function Switch({ label, disabledReason, onChange, ...rest }: SwitchProps) {
  return (
    <input
      {...rest}
      type="checkbox"
      // biome-ignore lint/a11y/useAriaPropsForRole: a checkbox says itself whether it is on
      role="switch"
      aria-label={label}
      aria-disabled={disabledReason !== undefined || undefined}
      aria-description={disabledReason}
      title={disabledReason}
      className={s.switch}
      onChange={(event) => {
        if (disabledReason === undefined) onChange?.(event);
      }}
    />
  );
}

interface FieldsetProps {
  readonly legend: string;
  readonly hint?: ReactNode;
  readonly error?: string | undefined;
  readonly children: ReactNode;
}

/** A group of choices under one name. */
export function Fieldset({ legend, hint, error, children }: FieldsetProps) {
  const id = useId();
  return (
    <fieldset className={s.field} aria-describedby={error ? id : undefined}>
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
