import clsx from 'clsx';
import { type ComponentPropsWithRef, type ReactNode, useId } from 'react';
import s from './form.module.css';

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

/** A group of choices under one name. */
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
