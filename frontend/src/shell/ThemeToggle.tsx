// Light, dark, or as the system: one button that goes round.
import { ActionIcon, useMantineColorScheme, type MantineColorScheme } from '@mantine/core';
import { useWords } from '~/i18n/words';
import { IconAuto, IconMoon, IconSun } from './icons';

const NEXT: Record<MantineColorScheme, MantineColorScheme> = { auto: 'light', light: 'dark', dark: 'auto' };
const ICON = { auto: IconAuto, light: IconSun, dark: IconMoon };

export function ThemeToggle() {
  const { t } = useWords();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const Icon = ICON[colorScheme];
  const label = t('nav.theme', { name: t(`theme.${colorScheme}`) });
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      size="lg"
      aria-label={label}
      title={label}
      onClick={() => setColorScheme(NEXT[colorScheme])}
    >
      <Icon />
    </ActionIcon>
  );
}
