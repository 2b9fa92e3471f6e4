// The form to reserve: size, start, duration, zone; price and clash are shown before anything is sent.
import { Alert, Button, NativeSelect, Select, Stack, Text, Title } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import { Problem } from '~/api/problem';
import { occupancyQuery, reserve } from '~/api/queries/reservations';
import type { Pod, System } from '~/api/types';
import { browserZone } from '~/format/times';
import { useFormat } from '~/format/useFormat';
import { useWords } from '~/i18n/words';
import { ProblemNotice } from '~/shell/ProblemNotice';
import { freeStart, overlapping } from './slots';
import { StartField } from './StartField';
import { useNow } from './useNow';

const DURATIONS = [15, 30, 60, 120, 240, 480, 1440] as const;
/** The portal takes a start that is this late for one that was meant as now. */
const LATE = 5 * 60_000;

interface Props {
  pod: Pod;
  system: System;
  project: string;
  zone: string;
  onZone: (zone: string) => void;
  /** Null: now. */
  chosenStart: Date | null;
  onStart: (start: Date) => void;
}

export function ReserveForm({ pod, system, project, zone, onZone, chosenStart, onStart }: Props) {
  const { t } = useWords();
  const format = useFormat();
  const client = useQueryClient();
  const [size, setSize] = useState(() => Math.min(4, Math.max(...system.allowed_sizes)));
  const [minutes, setMinutes] = useState(60);
  const now = useNow();
  const start = chosenStart ?? now;
  const [intention, setIntention] = useState(() => crypto.randomUUID());
  const end = new Date(start.getTime() + minutes * 60_000);
  const clash = useClash(pod, size, start, end, zone);
  const booking = useMutation({
    mutationFn: () =>
      reserve(
        {
          pod_id: pod.id,
          ipus: size,
          starts_at: start.toISOString(),
          ends_at: end.toISOString(),
          zone,
          project_id: project,
        },
        `${intention}:${size}:${start.getTime()}:${minutes}`,
      ),
    onSuccess: (slice) => {
      setIntention(crypto.randomUUID());
      notifications.show({
        color: 'pine',
        closeButtonProps: { 'aria-label': t('common.close') },
        message: t('reserve.done', {
          pod: pod.name,
          first: slice.ipu_start,
          last: slice.ipu_start + slice.ipus - 1,
          from: format.dateTime(slice.starts_at, zone),
          to: format.dateTime(slice.ends_at, zone),
        }),
      });
      void client.invalidateQueries({ queryKey: ['occupancy'] });
      void client.invalidateQueries({ queryKey: ['reservations'] });
      void client.invalidateQueries({ queryKey: ['session'] });
    },
  });
  /** An answer speaks of the wish that was sent, not of the next one. */
  const wish = <Value,>(set: (value: Value) => void) => {
    return (value: Value) => {
      booking.reset();
      set(value);
    };
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    booking.mutate();
  };
  const price = (size * minutes * system.microcredits_per_ipu_hour) / 60;
  const rate = format.credits(system.microcredits_per_ipu_hour);
  return (
    <Stack component="form" onSubmit={submit} gap="sm">
      <Title order={2} size="h3">
        {t('reserve.title')}
      </Title>
      <Select
        label={t('reserve.size')}
        description={t('reserve.size.hint')}
        data={system.allowed_sizes.map(String)}
        value={String(size)}
        onChange={wish((value) => setSize(Number(value)))}
        allowDeselect={false}
      />
      <StartField start={start} zone={zone} onStart={wish(onStart)} />
      <NativeSelect
        label={t('reserve.duration')}
        value={String(minutes)}
        onChange={wish((event) => setMinutes(Number(event.currentTarget.value)))}
        data={DURATIONS.map((value) => ({
          value: String(value),
          label: value < 60 ? t('reserve.minutes', { n: value }) : t('reserve.hours', { n: value / 60 }),
        }))}
      />
      <NativeSelect
        label={t('reserve.zone')}
        value={zone}
        onChange={(event) => onZone(event.currentTarget.value)}
        data={[...new Set([browserZone(), zone, 'UTC'])]}
      />
      <Text size="sm" className="number">
        {t('reserve.price', { credits: format.credits(price), ipus: size, hours: format.quantity(minutes / 60), rate })}
      </Text>
      {clash && booking.isIdle && <Alert color="brass">{clash}</Alert>}
      <Refusal problem={booking.error} zone={zone} onTake={wish(onStart)} />
      <Button type="submit" loading={booking.isPending}>
        {t('reserve.submit')}
      </Button>
    </Stack>
  );
}

/** What stands in the way as far as the page knows. The button stays usable, since the server knows better. */
function useClash(pod: Pod, size: number, start: Date, end: Date, zone: string): string | null {
  const { t } = useWords();
  const format = useFormat();
  const now = useNow();
  const { data } = useQuery(occupancyQuery(pod.id, start.toISOString(), end.toISOString()));
  if (start.getTime() < now.getTime() - LATE) return t('reserve.past');
  if (!data || freeStart(data, pod.ipus, size, start, end) !== null) return null;
  const first = overlapping(data, start, end)[0];
  if (!first) return null;
  return t('reserve.clash', {
    ipus: size,
    first: first.ipu_start,
    last: first.ipu_start + first.ipus - 1,
    until: format.dateTime(first.ends_at, zone),
  });
}

interface Conflict {
  ipu_start: number;
  ipus: number;
  starts_at: string;
  ends_at: string;
}

function Refusal({ problem, zone, onTake }: { problem: unknown; zone: string; onTake: (start: Date) => void }) {
  const { t } = useWords();
  const format = useFormat();
  if (!(problem instanceof Problem)) return <ProblemNotice problem={problem} />;
  const conflicts = (problem.params.conflicts ?? []) as Conflict[];
  const free = typeof problem.params.next_free === 'string' ? problem.params.next_free : null;
  return (
    <ProblemNotice problem={problem}>
      {conflicts.slice(0, 3).map((c) => (
        <Text size="sm" key={`${c.ipu_start}:${c.starts_at}`}>
          {t('reserve.conflict', {
            first: c.ipu_start,
            last: c.ipu_start + c.ipus - 1,
            from: format.dateTime(c.starts_at, zone),
            to: format.dateTime(c.ends_at, zone),
          })}
        </Text>
      ))}
      {free && (
        <>
          <Text size="sm" mt={4}>
            {t('reserve.free_at', { time: format.dateTime(free, zone) })}
          </Text>
          <Button size="compact-sm" variant="light" mt={6} onClick={() => onTake(new Date(free))}>
            {t('reserve.take')}
          </Button>
        </>
      )}
    </ProblemNotice>
  );
}
