import clsx from 'clsx';
import type { ButtonHTMLAttributes, MouseEvent, ReactNode, Ref } from 'react';
import s from './button.module.css';

type Variant = 'primary' | 'secondary' | 'ghost' | 'danger';

export interface Look {
  readonly variant?: Variant | undefined;
  readonly size?: 's' | 'm' | undefined;
  readonly icon?: ReactNode;
  readonly wide?: boolean | undefined;
}

export const buttonClass = ({ variant = 'secondary', size = 'm', wide }: Look, className?: string): string =>
  clsx(s.button, s[variant], s[size], wide && s.wide, className);

export interface ButtonProps
  extends Look,
    Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'disabled' | 'title'> {
  readonly ref?: Ref<HTMLButtonElement>;
  /** The action it started has not finished. */
  readonly pending?: boolean | undefined;
  /** Shown on hover and focus. */
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
