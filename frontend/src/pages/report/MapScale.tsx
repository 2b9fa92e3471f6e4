// The colour scale under the tile map.
import { Group, Text, useComputedColorScheme } from '@mantine/core';
import { useWords } from '~/i18n/words';
import { OVER, RAMP } from '~/theme/palette';

export function MapScale({ least, most, over }: { least: string; most: string; over: boolean }) {
  const { t } = useWords();
  const scheme = useComputedColorScheme('light');
  return (
    <div>
      <Group gap="xs" mt="xs" wrap="nowrap">
        <Text size="xs" c="dimmed" className="number">
          {t('report.map.least', { value: least })}
        </Text>
        <div
          style={{
            flex: 1,
            minWidth: 40,
            height: 8,
            borderRadius: 4,
            background: `linear-gradient(to right, ${RAMP[scheme].join(',')})`,
            border: '1px solid var(--hairline)',
          }}
        />
        <Text size="xs" c="dimmed" className="number">
          {t('report.map.most', { value: most })}
        </Text>
      </Group>
      <Group gap={6} mt={4}>
        {over && (
          <>
            <i style={{ width: 10, height: 10, borderRadius: 2, background: OVER[scheme] }} />
            <Text size="xs">{t('report.map.over')}</Text>
          </>
        )}
        <Text size="xs" c="dimmed">
          {t('report.map.order')}
        </Text>
      </Group>
    </div>
  );
}
