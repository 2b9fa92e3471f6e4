// Chooses the language. Names are in the language itself, so that who cannot read the page can still find theirs.
import { ActionIcon, Menu } from '@mantine/core';
import { LANGUAGES, type Language } from '~/i18n/catalogue';
import { useWords } from '~/i18n/words';
import { IconLanguage } from './icons';

const OWN_NAME: Record<Language, string> = { en: 'English', 'zh-Hans': '简体中文' };

export function LanguageMenu() {
  const { t, language, setLanguage } = useWords();
  const label = t('nav.language', { name: t(`language.${language}`) });
  return (
    <Menu position="bottom-end" withArrow>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size="lg" aria-label={label} title={label}>
          <IconLanguage />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {LANGUAGES.map((each) => (
          <Menu.Item key={each} lang={each} fw={each === language ? 700 : 400} onClick={() => setLanguage(each)}>
            {OWN_NAME[each]}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
