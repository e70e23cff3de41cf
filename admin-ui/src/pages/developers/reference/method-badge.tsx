import clsx from 'clsx';
import s from './method-badge.module.css';

export function MethodBadge({ method }: { readonly method: string }) {
  return <span className={clsx(s.method, s[method.toLowerCase()])}>{method}</span>;
}
