import clsx from 'clsx';
import { type ReactNode, useState } from 'react';
import { Button, CopyButton } from './button.tsx';
import s from './code.module.css';
import { tokens } from './highlight.ts';

interface CodeBlockProps {
  readonly code: string;
  readonly label: string;
  readonly language: 'json' | 'text';
  readonly wrap?: boolean;
  readonly maxLines?: number;
  readonly title?: ReactNode;
  /** The text byte for byte, if `code` is formatted. A switch shows it, and it is what is copied. */
  readonly raw?: string;
  readonly onCopied?: () => void;
}

export function CodeBlock(props: CodeBlockProps) {
  const { label, language, wrap, maxLines = 24, title, raw = props.code, onCopied } = props;
  const [isRaw, setRaw] = useState(false);
  const code = isRaw ? raw : props.code;
  return (
    <figure className={s.block}>
      {title !== undefined && (
        <figcaption className={s.caption}>
          <span>{title}</span>
          {raw !== props.code && (
            <Button size="s" variant="ghost" aria-pressed={isRaw} onClick={() => setRaw(!isRaw)}>
              Raw
            </Button>
          )}
        </figcaption>
      )}
      <div className={s.copy}>
        <CopyButton value={raw} label={`Copy ${label}`} {...(onCopied && { onCopied })} />
      </div>
      <pre
        className={clsx(s.pre, wrap && s.wrap)}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
        tabIndex={0}
        style={{ maxHeight: `${maxLines * 1.45 + 2}em` }}
      >
        <code>
          {language === 'text'
            ? code
            : tokens(code).map(([kind, text], index) =>
                kind === '' ? (
                  text
                ) : (
                  // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text have no other name
                  <span key={index} className={s[kind]}>
                    {text}
                  </span>
                ),
              )}
        </code>
      </pre>
    </figure>
  );
}

export const prettyJson = (text: string): string => {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
};
