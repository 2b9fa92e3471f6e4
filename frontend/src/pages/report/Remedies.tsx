// By how much it does not fit, and what would make it fit.
import { Alert, Text } from '@mantine/core';
import type { MemoryReport, Remedy } from '~/api/report';
import { useFormat } from '~/format/useFormat';
import type { Params } from '~/i18n/catalogue';
import { useWords } from '~/i18n/words';

export function Remedies({ overflow }: { overflow: NonNullable<MemoryReport['overflow']> }) {
  const { t } = useWords();
  const format = useFormat();
  return (
    <Alert color="brick" title={t('report.fits_not')}>
      <Text>{t('estimate.over_by', { bytes: format.bytes(overflow.over_by) })}</Text>
      {overflow.remedies.length > 0 && (
        <>
          <Text fw={600} mt="xs">
            {t('report.remedies')}
          </Text>
          <ul style={{ margin: '4px 0 0', paddingInlineStart: 20 }}>
            {overflow.remedies.map((remedy) => (
              <OneRemedy key={remedy.code} remedy={remedy} />
            ))}
          </ul>
        </>
      )}
    </Alert>
  );
}

function OneRemedy({ remedy }: { remedy: Remedy }) {
  const { t, maybe } = useWords();
  const format = useFormat();
  const params: Params = {};
  for (const [name, value] of Object.entries(remedy)) if (typeof value === 'number') params[name] = value;
  const { simulated } = remedy;
  const bytes = simulated && format.bytes(simulated.bytes_saved);
  return (
    <li>
      {maybe(`remedy.${remedy.code}`, params) ?? remedy.text}
      {simulated && bytes !== undefined && (
        <Text size="sm" c="dimmed">
          {simulated.fits
            ? t('report.remedy.fits', { bytes, change: format.percent(-simulated.throughput_lost) })
            : t('report.remedy.fits_not', { bytes, over: format.bytes(simulated.over_by) })}
        </Text>
      )}
    </li>
  );
}
