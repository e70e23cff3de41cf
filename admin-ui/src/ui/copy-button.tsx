import { Check, Copy } from 'lucide-react';
import { type ReactNode, type Ref, useEffect, useState } from 'react';
import { Button, type ButtonProps, IconButton } from './button.tsx';

interface CopyButtonProps extends Pick<ButtonProps, 'variant' | 'size'> {
  readonly ref?: Ref<HTMLButtonElement>;
  readonly value: string | (() => string | Promise<string>);
  /** What is copied: `Copy URL`. */
  readonly label: string;
  readonly onCopied?: () => void;
  /** A visible text; without it the button is an icon. */
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
const copyText = async (text: string): Promise<void> => {
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
