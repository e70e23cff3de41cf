import { Check } from 'lucide-react';
import { Menu } from '../../ui/menu.tsx';
import { setTheme, useTheme } from '../theme.ts';
import { ThemeTrigger, themeIcons, themeNames } from './triggers.tsx';

export function ThemeMenu({ defaultOpen }: { readonly defaultOpen: boolean }) {
  const chosen = useTheme();
  return (
    <Menu
      trigger={<ThemeTrigger />}
      defaultOpen={defaultOpen}
      actions={(['system', 'light', 'dark'] as const).map((theme) => {
        const ThemeIcon = themeIcons[theme];
        return {
          label: themeNames[theme],
          icon: theme === chosen ? <Check /> : <ThemeIcon />,
          onSelect: () => setTheme(theme),
        };
      })}
    />
  );
}
