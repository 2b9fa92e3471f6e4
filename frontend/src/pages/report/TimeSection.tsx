// Where the time of a step goes: compute, exchange, sync, host, collectives, copies and waiting; and by pass.
import { Paper, Stack, Table, Text, Title, useComputedColorScheme } from '@mantine/core';
import type { Report } from '~/api/report';
import type { Resource } from '~/api/types';
import { useFormat } from '~/format/useFormat';
import { useWords } from '~/i18n/words';
import { SERIES } from '~/theme/palette';
import classes from './Report.module.css';

const PARTS: Resource[] = ['compute', 'exchange', 'sync', 'host', 'collective', 'copy', 'bubble'];

const PASSES = ['forward', 'backward', 'recompute', 'update'];
// only a pipeline copies between its IPUs, waits or computes anew: a zero of these is not worth a row
const OF_PIPELINES = new Set<string>(['copy', 'bubble', 'recompute']);
const inOrder = ([a]: [string, number], [b]: [string, number]) => PASSES.indexOf(a) - PASSES.indexOf(b);

interface Part {
  name: string;
  seconds: number;
}

export function TimeSection({ report }: { report: Report }) {
  const { t, maybe } = useWords();
  const format = useFormat();
  const time = report.time;
  const parts = PARTS.map((part) => ({ part, name: t(`bound.${part}`), seconds: time[`${part}_seconds`] ?? 0 })).filter(
    ({ part, seconds }) => seconds > 0 || !OF_PIPELINES.has(part),
  );
  const passes = Object.entries(time.passes)
    .filter(([pass, seconds]) => seconds > 0 || !OF_PIPELINES.has(pass))
    .sort(inOrder)
    .map(([pass, seconds]) => ({
      name: maybe(`pass.${pass}`) ?? pass,
      seconds,
    }));
  return (
    <Stack>
      <Text c="dimmed">{t('report.time.lead', { total: format.seconds(time.total_seconds) })}</Text>
      <Shares parts={parts} total={time.total_seconds} />
      <Title order={3}>{t('report.time.passes')}</Title>
      <Shares parts={passes} total={time.total_seconds} />
    </Stack>
  );
}

function Shares({ parts, total }: { parts: Part[]; total: number }) {
  const { t } = useWords();
  const format = useFormat();
  const scheme = useComputedColorScheme('light');
  const shown = parts.map((part, i) => ({ ...part, colour: SERIES[scheme][i] }));
  return (
    <Paper withBorder p="md">
      <div className={classes.bar} aria-hidden="true">
        {shown
          .filter((part) => part.seconds > 0)
          .map((part) => (
            <i
              key={part.name}
              title={part.name}
              style={{ width: `${(part.seconds / total) * 100}%`, background: part.colour }}
            />
          ))}
      </div>
      <Table mt="sm" className="number" maw={520}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('report.time.part')}</Table.Th>
            <Table.Th ta="right">{t('report.time.time')}</Table.Th>
            <Table.Th ta="right">{t('report.time.share')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {shown.map((part) => (
            <Table.Tr key={part.name}>
              <Table.Td>
                <i
                  className={classes.swatch}
                  style={{ background: part.colour, display: 'inline-block', marginInlineEnd: 8 }}
                />
                {part.name}
              </Table.Td>
              <Table.Td ta="right">{format.seconds(part.seconds)}</Table.Td>
              <Table.Td ta="right">{format.percent(part.seconds / total)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Paper>
  );
}
