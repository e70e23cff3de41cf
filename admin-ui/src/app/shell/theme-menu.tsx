import { Check, Monitor, Moon, Sun } from 'lucide-react';
import { IconButton } from '../../ui/button.tsx';
import { Menu } from '../../ui/menu.tsx';
import { setTheme, type Theme, useTheme } from '../theme.ts';

const names: Readonly<Record<Theme, string>> = { system: 'System', light: 'Light', dark: 'Dark' };
const icons = { system: Monitor, light: Sun, dark: Moon };

export function ThemeMenu() {
  const chosen = useTheme();
  const Icon = icons[chosen];
  return (
    <Menu
      trigger={<IconButton label={`Theme: ${names[chosen]}`} icon={<Icon />} />}
      actions={(['system', 'light', 'dark'] as const).map((theme) => {
        const ThemeIcon = icons[theme];
        return {
          label: names[theme],
          icon: theme === chosen ? <Check /> : <ThemeIcon />,
          onSelect: () => setTheme(theme),
        };
      })}
    />
  );
}
