import clsx from 'clsx';
import { Eye, EyeOff } from 'lucide-react';
import {
  type ComponentPropsWithRef,
  cloneElement,
  createContext,
  type FormEvent,
  type ReactElement,
  type ReactNode,
  useContext,
  useEffect,
  useId,
  useRef,
  useState,
} from 'react';
import { Button } from './button.tsx';
import { ApiError, errorText, fieldError, isFieldError } from './errors.ts';
import s from './form.module.css';
import type { FormDraft } from './form-draft.ts';
import { Facts, Row } from './layout.tsx';
import { type Act, useAct } from './mutation.ts';
import { Notice } from './states.tsx';

export interface Mutation<Input> {
  readonly isPending: boolean;
  readonly error: unknown;
  readonly mutate: (input: Input) => void;
}

interface FormProps<Result> extends Partial<Act<Result>> {
  /** In place of `act`, if more than the form shows how it goes. */
  readonly mutation?: Omit<Mutation<never>, 'mutate'>;
  readonly onSubmit?: () => void;
  /** Whose problems are shown by something else than a `Field` of the name. */
  readonly fields?: readonly string[];
  readonly draft?: FormDraft;
  /** A value of the draft as people read it, if it is neither a text nor a list of texts. */
  readonly words?: ((name: string, value: unknown) => string | undefined) | undefined;
  readonly submit: string;
  readonly submitDisabledReason?: string | undefined;
  readonly danger?: boolean;
  readonly wide?: boolean;
  readonly secondary?: ReactNode;
  readonly onCancel?: () => void;
  readonly children: ReactNode;
}

interface Problems {
  readonly error: unknown;
  /** Of the fields that show theirs. */
  readonly names: Set<string>;
}

const ProblemsContext = createContext<Problems>({ error: undefined, names: new Set() });

const useProblem = (name: string | undefined): string | undefined => {
  const { error, names } = useContext(ProblemsContext);
  useEffect(() => {
    if (name === undefined) return;
    names.add(name);
    return () => void names.delete(name);
  }, [name, names]);
  return name === undefined ? undefined : fieldError(error, name);
};

const nothing = (): Promise<never> => Promise.reject(new Error('the form does nothing'));

export function Form<Result>(props: FormProps<Result>) {
  const { fields = [], draft, words, submit, danger, wide, secondary, onCancel, children } = props;
  const { act = nothing, done, onDone } = props;
  const own = useAct<Result>({ act, done, onDone }, draft ? { meta: { saves: draft.form } } : {});
  const { isPending, error } = props.mutation ?? own;
  const [names] = useState(() => new Set<string>());
  const unsettled = draft?.conflicts.length ? 'First choose which values to keep' : undefined;
  const offReason = props.submitDisabledReason ?? unsettled;
  const form = useRef<HTMLFormElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: once more when the question of what to keep appears
  useEffect(() => {
    if (error) showFirstProblem(form.current);
  }, [error, unsettled]);
  const submitForm = (event: FormEvent): void => {
    event.preventDefault();
    event.stopPropagation();
    if (offReason !== undefined) return;
    if (props.onSubmit) props.onSubmit();
    else own.mutate();
  };
  return (
    <form ref={form} className={s.form} onSubmit={submitForm} noValidate>
      {draft?.isRestored && (
        <p className={s.restored} role="status">
          Your unsaved changes were restored ·{' '}
          <button type="button" onClick={draft.discard}>
            Discard
          </button>
        </p>
      )}
      <ProblemsContext value={{ error, names }}>{children}</ProblemsContext>
      {draft && unsettled && <Conflicts {...draft} words={words} />}
      {error != null &&
        !isFieldError(error, [...fields, ...names]) &&
        !(draft && changedMeanwhile(error)) && (
          <div data-problem>
            <Notice tone="bad">{errorText(error)}</Notice>
          </div>
        )}
      <div className={s.buttons}>
        {secondary}
        {onCancel && (
          <Button
            onClick={() => {
              draft?.discard();
              onCancel();
            }}
          >
            Cancel
          </Button>
        )}
        <Button
          type="submit"
          variant={danger ? 'danger' : 'primary'}
          pending={isPending}
          disabledReason={offReason}
          wide={wide}
        >
          {submit}
        </Button>
      </div>
    </form>
  );
}

/** The stored values of an answer 409, whose fields are the form's. */
export const changedMeanwhile = (error: unknown): Readonly<Record<string, unknown>> | undefined =>
  error instanceof ApiError ? (error.extra.changed as Record<string, unknown> | undefined) : undefined;

function Conflicts({ conflicts, settle, words }: FormDraft & Pick<FormProps<void>, 'words'>) {
  const shown = (name: string, value: unknown): ReactNode => {
    const text = words?.(name, value) ?? (Array.isArray(value) ? value.join(', ') : String(value ?? ''));
    return <bdi>{text || '(empty)'}</bdi>;
  };
  return (
    <div data-problem tabIndex={-1}>
      <Notice tone="bad" title="Not saved: someone else changed the same fields">
        {conflicts.map(({ name, label, stored, own }) => (
          <fieldset key={name} className={s.conflict}>
            <legend>{label}</legend>
            <Facts facts={{ Saved: shown(name, stored), Yours: shown(name, own) }} />
            <Row>
              <Button size="s" onClick={() => settle(name, 'stored')}>
                Keep the saved value
              </Button>
              <Button size="s" onClick={() => settle(name, 'own')}>
                Keep yours
              </Button>
            </Row>
          </fieldset>
        ))}
      </Notice>
    </div>
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
  /** In the operation's body: what the server says of it is shown here. */
  readonly name?: string;
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

export function Field({ label, name, hint, optional, hideLabel, children, ...props }: FieldProps) {
  const id = useId();
  const problem = useProblem(name);
  const error = props.error ?? problem;
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
  readonly name?: string;
  readonly hint?: ReactNode;
  readonly error?: string | undefined;
  readonly children: ReactNode;
}

export function Fieldset({ legend, name, hint, children, ...props }: FieldsetProps) {
  const id = useId();
  const problem = useProblem(name);
  const error = props.error ?? problem;
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
