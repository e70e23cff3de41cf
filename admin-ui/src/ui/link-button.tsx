import { createLink } from '@tanstack/react-router';
import type { AnchorHTMLAttributes, Ref } from 'react';
import { buttonClass, type Look } from './button.tsx';

interface AnchorProps extends Look, AnchorHTMLAttributes<HTMLAnchorElement> {
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

/** A link that looks like a button. */
export const LinkButton = createLink(ButtonAnchor);
