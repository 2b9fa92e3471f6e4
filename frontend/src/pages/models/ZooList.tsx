// The built-in models, each with the way to launch it.
import { Group, Paper, SimpleGrid, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { zooQuery } from '~/api/queries/catalogue';
import { useFormat } from '~/format/useFormat';
import { useWords } from '~/i18n/words';
import { LinkButton } from '~/shell/links';
import { zooName, zooText } from './modelWords';

export function ZooList() {
  const words = useWords();
  const { t } = words;
  const format = useFormat();
  const { data } = useQuery(zooQuery);
  if (!data?.length) return null;
  return (
    <section>
      <Title order={2}>{t('models.zoo')}</Title>
      <Text c="dimmed" mb="sm">
        {t('models.zoo.lead')}
      </Text>
      <SimpleGrid cols={{ base: 1, xs: 2, md: 3 }}>
        {data.map((model) => (
          <Paper key={model.id} withBorder p="md">
            <Text fw={650}>{zooName(model, words)}</Text>
            <Text size="sm" c="dimmed" mb="sm">
              {zooText(model, words)}
            </Text>
            <Group justify="space-between">
              <Text size="sm" className="number">
                {t('models.parameters')}: {format.short(model.parameters)}
              </Text>
              <LinkButton to="/launch" search={{ model: model.id }} size="compact-sm" variant="light">
                {t('models.launch')}
              </LinkButton>
            </Group>
          </Paper>
        ))}
      </SimpleGrid>
    </section>
  );
}
