// Coverage, checks, notes and constants: what the report rests on. Sources are quoted as the engine names them.
import { Badge, Code, Paper, Stack, Table, Text, Title } from '@mantine/core';
import type { Report } from '~/api/report';
import { useFormat } from '~/format/useFormat';
import { useWords } from '~/i18n/words';
import { WideTable } from '~/shell/WideTable';

export function Provenance({ report }: { report: Report }) {
  const { t, maybe } = useWords();
  return (
    <Stack>
      <Coverage report={report} />
      <Paper withBorder p="md">
        <Title order={3} mb="xs">
          {t('report.checks')}
        </Title>
        <Table>
          <Table.Tbody>
            {report.checks.map((check) => (
              <Table.Tr key={check.name}>
                <Table.Td>{maybe(`check.${check.name}`) ?? check.name}</Table.Td>
                <Table.Td>
                  <Badge variant="light" color={check.ok ? 'pine' : 'brick'}>
                    {t(check.ok ? 'report.check.ok' : 'report.check.broken')}
                  </Badge>
                </Table.Td>
                <Table.Td lang="en" c="dimmed">
                  {check.detail}
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Paper>
      {report.notes.length > 0 && (
        <Paper withBorder p="md">
          <Title order={3} mb="xs">
            {t('report.notes')}
          </Title>
          <ul style={{ margin: 0, paddingInlineStart: 20 }}>
            {report.notes.map((note) => (
              <li key={note.code + note.message}>{maybe(`note.${note.code}`) ?? note.message}</li>
            ))}
          </ul>
        </Paper>
      )}
      <Constants report={report} />
      <Text size="sm" c="dimmed">
        {t('report.engine', { release: report.engine.release, fingerprint: report.engine.fingerprint.slice(0, 16) })}
      </Text>
    </Stack>
  );
}

function Coverage({ report }: { report: Report }) {
  const { t } = useWords();
  const format = useFormat();
  const { coverage } = report;
  const full = coverage.operators_modelled === coverage.operators_total;
  return (
    <Paper withBorder p="md">
      <Title order={3} mb="xs">
        {t('report.coverage')}
      </Title>
      <Text>
        {full
          ? t('report.coverage.full')
          : t('report.coverage.text', {
              modelled: coverage.operators_modelled,
              total: coverage.operators_total,
              share: format.percent(coverage.share_of_time_modelled),
            })}
      </Text>
      {coverage.fallbacks.length > 0 && (
        <Text size="sm">
          {t('report.fallbacks', { list: coverage.fallbacks.map((each) => `${each.op} × ${each.count}`).join(', ') })}
        </Text>
      )}
    </Paper>
  );
}

function Constants({ report }: { report: Report }) {
  const { t, maybe } = useWords();
  const format = useFormat();
  return (
    <Paper withBorder p="md">
      <Title order={3} mb="xs">
        {t('report.constants')}
      </Title>
      <WideTable minWidth={700} label={t('report.constants')} maxHeight={420}>
        <Table className="number" stickyHeader>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t('report.constant')}</Table.Th>
              <Table.Th ta="right">{t('report.value')}</Table.Th>
              <Table.Th>{t('report.unit')}</Table.Th>
              <Table.Th>{t('report.confidence')}</Table.Th>
              <Table.Th>{t('report.from')}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody lang="en">
            {report.provenance.constants.map((constant) => (
              <Table.Tr key={constant.name}>
                <Table.Td>
                  <Code>{constant.name}</Code>
                </Table.Td>
                <Table.Td ta="right">
                  {typeof constant.value === 'number' ? format.quantity(constant.value) : constant.value}
                </Table.Td>
                <Table.Td>{constant.unit}</Table.Td>
                <Table.Td style={{ whiteSpace: 'nowrap' }}>
                  {maybe(`confidence.${constant.confidence}`) ?? constant.confidence}
                </Table.Td>
                <Table.Td>
                  <Text size="xs">{constant.source}</Text>
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </WideTable>
    </Paper>
  );
}
