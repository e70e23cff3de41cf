import { Monitor, Moon, Sun } from 'lucide-react';
import type { ComponentPropsWithRef } from 'react';
import { type ButtonProps, IconButton } from '../../ui/button.tsx';
import { nameOfMember } from '../name-of-member.ts';
import { useSession } from '../session.ts';
import { type Theme, useTheme } from '../theme.ts';
import s from './triggers.module.css';

export const themeNames: Readonly<Record<Theme, string>> = { system: 'System', light: 'Light', dark: 'Dark' };
export const themeIcons = { system: Monitor, light: Sun, dark: Moon };

/** The button of the theme menu. */
export function ThemeTrigger(props: Omit<ButtonProps, 'icon' | 'children'>) {
  const chosen = useTheme();
  const Icon = themeIcons[chosen];
  return <IconButton {...props} label={`Theme: ${themeNames[chosen]}`} icon={<Icon />} />;
}

/** The button of the user menu. */
export function UserTrigger(props: ComponentPropsWithRef<'button'>) {
  const name = nameOfMember(useSession().user);
  return (
    <button type="button" {...props} className={s.trigger}>
      <span aria-hidden="true">{initials(name)}</span>
      <span className="visually-hidden">Your account: {name}</span>
    </button>
  );
}

const initials = (name: string): string => {
  const words = name.trim().split(/\s+/);
  const ends = words.length > 1 ? [words[0], words.at(-1)] : words;
  return ends.map(firstCharacter).join('').toUpperCase();
};

/** The first character as people see it: an emoji or an accented letter is several code units. */
const firstCharacter = (word = ''): string =>
  // Most names need no segmenter, which takes the browser long to load.
  /^[a-z]+$/i.test(word) ? word.charAt(0) : ([...new Intl.Segmenter().segment(word)][0]?.segment ?? '');

/** The modifier key of shortcuts on this platform. */
export const commandKey = (): string => (/Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘' : 'Ctrl');
