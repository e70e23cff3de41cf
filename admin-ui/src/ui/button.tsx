import { createLink } from '@tanstack/react-router';
import clsx from 'clsx';
import type { AnchorHTMLAttributes, ButtonHTMLAttributes, MouseEvent, ReactNode, Ref } from 'react';
import s from './button.module.css';

type Variant = 'primary' | 'secondary' | 'ghost' | 'danger';

interface Look {
  readonly variant?: Variant | undefined;
  readonly size?: 's' | 'm' | undefined;
  readonly icon?: ReactNode;
  readonly wide?: boolean | undefined;
}

export interface ButtonProps extends Look, Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'disabled'> {
  readonly ref?: Ref<HTMLButtonElement>;
  /** Something it started is under way. */
  readonly pending?: boolean | undefined;
  /** Why it cannot be used now. It stays focusable, so that the reason can be found. */
  readonly disabledReason?: string | undefined;
}

export function Button({
  variant = 'secondary',
  size = 'm',
  icon,
  wide,
  pending,
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
      className={clsx(s.button, s[variant], s[size], wide && s.wide, className)}
      aria-disabled={off || undefined}
      aria-busy={pending || undefined}
      title={disabledReason ?? rest.title}
      aria-description={disabledReason}
      onClick={click}
    >
      {pending ? <span className={s.spinner} /> : icon}
      {children}
    </button>
  );
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
      title={label}
      icon={icon}
    />
  );
}

interface AnchorProps extends Look, AnchorHTMLAttributes<HTMLAnchorElement> {
  readonly ref?: Ref<HTMLAnchorElement>;
}

function ButtonAnchor({
  variant = 'secondary',
  size = 'm',
  icon,
  wide,
  className,
  children,
  ...rest
}: AnchorProps) {
  return (
    <a {...rest} className={clsx(s.button, s[variant], s[size], wide && s.wide, className)}>
      {icon}
      {children}
    </a>
  );
}

/** A link that looks like a button. */
export const LinkButton = createLink(ButtonAnchor);
