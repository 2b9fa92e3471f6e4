// IPUs down, time across: who holds what. A click on free time sets the form's start; the table says the same in words.
import { ActionIcon, Button, Group, Table, Text } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState, type MouseEvent } from 'react';
import { occupancyQuery } from '~/api/queries/reservations';
import type { Occupancy, Pod } from '~/api/types';
import { useFormat, type Format } from '~/format/useFormat';
import { useWords, type Words } from '~/i18n/words';
import { useTopic } from '~/live/LiveProvider';
import { IconLeft, IconRight } from '~/shell/icons';
import { ProblemNotice } from '~/shell/ProblemNotice';
import { WideTable } from '~/shell/WideTable';
import { move, quarterAt, spanIn, ticks, windowOf, type View, type Window } from './slots';
import { useNow } from './useNow';
import classes from './Pods.module.css';

interface Props {
  pod: Pod;
  view: View;
  at: Date;
  zone: string;
  onMove: (at: Date) => void;
  onPick: (start: Date) => void;
}

export function Calendar({ pod, view, at, zone, onMove, onPick }: Props) {
  const { t } = useWords();
  const format = useFormat();
  const client = useQueryClient();
  const [asTable, setAsTable] = useState(false);
  const window = windowOf(at, view, zone);
  const { data, error } = useQuery(occupancyQuery(pod.id, window.from.toISOString(), window.to.toISOString()));
  useTopic(`pod:${pod.id}`, () => void client.invalidateQueries({ queryKey: ['occupancy', pod.id] }));
  const title =
    view === 'day'
      ? format.day(window.from, zone)
      : `${format.day(window.from, zone)} – ${format.day(new Date(window.to.getTime() - 1), zone)}`;
  return (
    <div>
      <Group gap="xs" mb="sm" wrap="nowrap">
        <ActionIcon
          variant="default"
          size="lg"
          aria-label={t('pods.previous')}
          onClick={() => onMove(move(at, view, -1, zone))}
        >
          <IconLeft />
        </ActionIcon>
        <Button variant="default" size="xs" onClick={() => onMove(new Date())}>
          {t('pods.today')}
        </Button>
        <ActionIcon
          variant="default"
          size="lg"
          aria-label={t('pods.next')}
          onClick={() => onMove(move(at, view, 1, zone))}
        >
          <IconRight />
        </ActionIcon>
        <Text fw={650} aria-live="polite" style={{ flex: 1 }}>
          {title}
        </Text>
        <Button variant="subtle" size="compact-sm" onClick={() => setAsTable(!asTable)}>
          {t(asTable ? 'common.picture' : 'common.table')}
        </Button>
      </Group>
      <ProblemNotice problem={error} />
      {asTable ? (
        <HeldTable held={data ?? []} zone={zone} />
      ) : (
        <Grid pod={pod} window={window} view={view} zone={zone} held={data ?? []} onPick={onPick} title={title} />
      )}
      <Legend zone={zone} />
    </div>
  );
}

interface GridProps {
  pod: Pod;
  window: Window;
  view: View;
  zone: string;
  held: Occupancy[];
  onPick: (start: Date) => void;
  title: string;
}

function Grid({ pod, window, view, zone, held, onPick, title }: GridProps) {
  const { t } = useWords();
  const words = useWords();
  const format = useFormat();
  const marks = ticks(window, view, zone);
  const now = useNow();
  const nowAt = spanIn(window, now.toISOString(), window.to.toISOString());
  const scroller = useRef<HTMLDivElement>(null);
  const begin = nowAt?.left ?? 0;
  useEffect(() => {
    const box = scroller.current;
    if (box) box.scrollLeft = begin * box.scrollWidth - box.clientWidth / 2; // on a narrow screen, show the present first
    // Only when another window is shown: the minute that passes must not move what the reader looks at.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [title]);
  const pick = (event: MouseEvent<HTMLDivElement>) => {
    const box = event.currentTarget.getBoundingClientRect();
    const share = (event.clientX - box.left) / box.width;
    const instant = window.from.getTime() + share * (window.to.getTime() - window.from.getTime());
    onPick(quarterAt(new Date(instant), now));
  };
  return (
    <div
      ref={scroller}
      className={classes.scroll}
      tabIndex={0}
      role="region"
      aria-label={t('pods.calendar', { pod: pod.name, day: title })}
    >
      <div className={classes.grid}>
        <div className={classes.rows} aria-hidden="true">
          {rowMarks(pod.ipus).map((ipu) => (
            <span key={ipu} style={{ top: `${(ipu / pod.ipus) * 100}%` }}>
              {t('pods.ipu_axis')} {ipu}
            </span>
          ))}
        </div>
        <div>
          {/* The mouse's short cut; with the keyboard the form's own start field does the same. */}
          <div
            className={classes.plane}
            style={{ backgroundSize: `${100 / marks.length}% ${100 / Math.min(pod.ipus, 16)}%` }}
            onClick={pick}
          >
            {held.map((block) => (
              <Block
                key={`${block.ipu_start}:${block.starts_at}:${block.kind}`}
                block={block}
                window={window}
                ipus={pod.ipus}
                label={blockLabel(block, words, format, zone)}
              />
            ))}
            {nowAt && nowAt.left > 0 && <i className={classes.now} style={{ left: `${nowAt.left * 100}%` }} />}
          </div>
          <div className={classes.hours} aria-hidden="true">
            {marks.map((mark) => (
              <span key={mark.getTime()}>
                {view === 'day' ? format.clock(mark.toISOString(), zone) : format.day(mark, zone)}
              </span>
            ))}
          </div>
        </div>
      </div>
    </div>
  );
}

function rowMarks(ipus: number): number[] {
  const step = Math.max(1, ipus / 8);
  return Array.from({ length: Math.min(8, ipus) }, (_, i) => i * step);
}

const kindOf = (block: Occupancy) => (block.mine ? 'mine' : block.kind);

function blockLabel(block: Occupancy, { t }: Words, format: Format, zone: string): string {
  return t('pods.block', {
    kind: t(`pods.kind.${kindOf(block)}`),
    first: block.ipu_start,
    last: block.ipu_start + block.ipus - 1,
    from: format.dateTime(block.starts_at, zone),
    to: format.dateTime(block.ends_at, zone),
  });
}

function Block({ block, window, ipus, label }: { block: Occupancy; window: Window; ipus: number; label: string }) {
  const span = spanIn(window, block.starts_at, block.ends_at);
  if (!span) return null;
  return (
    <div
      role="img"
      aria-label={label}
      title={label}
      className={classes.block}
      data-kind={kindOf(block)}
      style={{
        left: `${span.left * 100}%`,
        width: `${span.width * 100}%`,
        top: `${(block.ipu_start / ipus) * 100}%`,
        height: `${(block.ipus / ipus) * 100}%`,
      }}
    />
  );
}

function HeldTable({ held, zone }: { held: Occupancy[]; zone: string }) {
  const { t } = useWords();
  const format = useFormat();
  if (held.length === 0) return <Text c="dimmed">{t('pods.free')}</Text>;
  return (
    <WideTable minWidth={480} label={t('pods.title')}>
      <Table className="number">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('pods.table.ipus')}</Table.Th>
            <Table.Th>{t('pods.table.from')}</Table.Th>
            <Table.Th>{t('pods.table.to')}</Table.Th>
            <Table.Th>{t('pods.table.who')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {held.map((block) => (
            <Table.Tr key={`${block.ipu_start}:${block.starts_at}`}>
              <Table.Td>
                {t('pods.table.range', { first: block.ipu_start, last: block.ipu_start + block.ipus - 1 })}
              </Table.Td>
              <Table.Td>{format.dateTime(block.starts_at, zone)}</Table.Td>
              <Table.Td>{format.dateTime(block.ends_at, zone)}</Table.Td>
              <Table.Td>{t(`pods.kind.${kindOf(block)}`)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </WideTable>
  );
}

function Legend({ zone }: { zone: string }) {
  const { t } = useWords();
  return (
    <Group gap="md" mt="sm">
      {(['mine', 'reservation', 'job', 'maintenance'] as const).map((kind) => (
        <Group key={kind} gap={6} wrap="nowrap">
          <i className={classes.swatch} data-kind={kind} />
          <Text size="xs" c="dimmed">
            {t(`pods.kind.${kind}`)}
          </Text>
        </Group>
      ))}
      <Text size="xs" c="dimmed" ml="auto">
        {t('pods.zone', { zone })}
      </Text>
    </Group>
  );
}
