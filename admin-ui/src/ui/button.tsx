import { createLink } from '@tanstack/react-router';
import clsx from 'clsx';
import { Check, Copy } from 'lucide-react';
import {
  type AnchorHTMLAttributes,
  type ButtonHTMLAttributes,
  type MouseEvent,
  type ReactNode,
  type Ref,
  useEffect,
  useState,
} from 'react';
import s from './button.module.css';
import { type Act, useAct } from './mutation.ts';
import { toastError } from './toast.ts';

type Variant = 'primary' | 'secondary' | 'ghost' | 'danger';

interface ButtonLook {
  readonly variant?: Variant | undefined;
  readonly size?: 's' | 'm' | undefined;
  readonly icon?: ReactNode;
  readonly wide?: boolean | undefined;
}

const buttonClass = ({ variant = 'secondary', size = 'm', wide }: ButtonLook, className?: string): string =>
  clsx(s.button, s[variant], s[size], wide && s.wide, className);

export interface ButtonProps
  extends ButtonLook,
    Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'disabled' | 'title'> {
  readonly ref?: Ref<HTMLButtonElement>;
  readonly pending?: boolean | undefined;
  readonly tip?: string | undefined;
  /** Why it is disabled: shown on hover, focus and touch. It stays focusable. */
  readonly disabledReason?: string | undefined;
}

export function Button({
  variant,
  size,
  icon,
  wide,
  pending,
  tip,
  disabledReason,
  className,
  children,
  onClick,
  ...rest
}: ButtonProps) {
  const off = Boolean(pending) || disabledReason !== undefined;
  const click = (event: MouseEvent<HTMLButtonElement>): void => {
    if (off) event.preventDefault();
    else onClick?.(event);
  };
  return (
    <button
      type="button"
      {...rest}
      className={buttonClass({ variant, size, wide }, className)}
      aria-disabled={off || undefined}
      aria-busy={pending || undefined}
      data-tip={disabledReason ?? tip}
      aria-description={disabledReason}
      onClick={click}
    >
      {pending ? <span className={s.spinner} /> : icon}
      {children}
    </button>
  );
}

type ActButtonProps<Result> = Act<Result> & Omit<ButtonProps, 'onClick' | 'pending'>;

/** A failure is a toast. */
export function ActButton<Result>({ act, done, onDone, ...button }: ActButtonProps<Result>) {
  const { mutate, isPending } = useAct({ act, done, onDone }, { onError: toastError });
  return <Button {...button} pending={isPending} onClick={() => mutate()} />;
}

interface IconButtonProps extends Omit<ButtonProps, 'icon' | 'children'> {
  readonly label: string;
  readonly icon: ReactNode;
}

export function IconButton({ label, icon, className, variant = 'ghost', ...rest }: IconButtonProps) {
  return (
    <Button
      {...rest}
      variant={variant}
      className={clsx(s.iconOnly, className)}
      aria-label={label}
      tip={label}
      icon={icon}
    />
  );
}

interface AnchorProps extends ButtonLook, AnchorHTMLAttributes<HTMLAnchorElement> {
  readonly ref?: Ref<HTMLAnchorElement>;
}

function ButtonAnchor({ variant, size, icon, wide, className, children, ...rest }: AnchorProps) {
  return (
    <a {...rest} className={buttonClass({ variant, size, wide }, className)}>
      {icon}
      {children}
    </a>
  );
}

export const LinkButton = createLink(ButtonAnchor);

interface CopyButtonProps extends Pick<ButtonProps, 'variant' | 'size'> {
  readonly ref?: Ref<HTMLButtonElement>;
  readonly value: string | (() => string | Promise<string>);
  readonly label: string;
  readonly onCopied?: () => void;
  readonly children?: ReactNode;
}

export function CopyButton({
  ref,
  value,
  label,
  onCopied,
  children,
  size = 's',
  variant = 'ghost',
}: CopyButtonProps) {
  const [state, setState] = useState<'idle' | 'done' | 'failed'>('idle');
  useEffect(() => {
    if (state === 'idle') return;
    const timer = setTimeout(() => setState('idle'), 2000);
    return () => clearTimeout(timer);
  }, [state]);
  const copy = async (): Promise<void> => {
    try {
      await copyText(typeof value === 'string' ? value : await value());
      setState('done');
      onCopied?.();
    } catch {
      setState('failed');
    }
  };
  const icon = state === 'done' ? <Check /> : <Copy />;
  const common = { size, variant, onClick: () => void copy(), ...(ref ? { ref } : {}) };
  return (
    <>
      {children === undefined ? (
        <IconButton {...common} label={state === 'done' ? 'Copied' : label} icon={icon} />
      ) : (
        <Button {...common} aria-label={label} icon={icon}>
          {state === 'done' ? 'Copied' : children}
        </Button>
      )}
      <span className="visually-hidden" role="status">
        {state === 'done' ? 'Copied to the clipboard' : state === 'failed' ? 'Copying failed' : ''}
      </span>
    </>
  );
}

/** On plain http, browsers lack the clipboard API, but still support `execCommand`. */
export const copyText = async (text: string): Promise<void> => {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const holder = document.createElement('textarea');
  holder.value = text;
  const place = document.querySelector('[role="dialog"]') ?? document.body;
  place.append(holder);
  holder.select();
  const done = document.execCommand('copy');
  holder.remove();
  if (!done) throw new Error('not copied');
};
