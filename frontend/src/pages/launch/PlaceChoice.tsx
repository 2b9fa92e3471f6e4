// Where the job runs: on IPUs taken on demand, or on a slice the reader has reserved.
import { Alert, Button, Group, Input, SegmentedControl, Select, Stack, Text } from '@mantine/core';
import type { Reservation, System } from '~/api/types';
import { useFormat } from '~/format/useFormat';
import { useWords } from '~/i18n/words';
import { LinkAnchor } from '~/shell/links';
import type { LaunchForm, Place } from './form';

interface Props {
  form: LaunchForm;
  onChange: (form: LaunchForm) => void;
  systems: System[];
  slices: Reservation[];
  place: Place | null;
}

export function PlaceChoice({ form, onChange, systems, slices, place }: Props) {
  const { t } = useWords();
  return (
    <Stack>
      <Input.Wrapper label={t('launch.where')} labelElement="div">
        <SegmentedControl
          fullWidth
          aria-label={t('launch.where')}
          value={form.where}
          onChange={(where) =>
            onChange({
              ...form,
              where: where as LaunchForm['where'],
              reservation: form.reservation ?? slices[0]?.id ?? null,
            })
          }
          data={[
            { value: 'demand', label: t('launch.where.demand') },
            { value: 'slice', label: t('launch.where.slice') },
          ]}
        />
      </Input.Wrapper>
      {form.where === 'demand' ? (
        <>
          <OnDemand form={form} onChange={onChange} systems={systems} place={place} />
          <OwnSlice form={form} onChange={onChange} slices={slices} />
        </>
      ) : (
        <OnSlice form={form} onChange={onChange} slices={slices} />
      )}
    </Stack>
  );
}

function OnDemand({ form, onChange, systems, place }: Omit<Props, 'slices'>) {
  const { t } = useWords();
  const system = systems.find((each) => each.id === form.system);
  return (
    <Group grow align="flex-start">
      <Select
        label={t('launch.system')}
        data={systems.filter((each) => each.reservable).map((each) => ({ value: each.id, label: each.name }))}
        value={form.system}
        onChange={(id) => id && onChange({ ...form, system: id, ipus: null })}
        allowDeselect={false}
      />
      <Select
        label={t('launch.ipus')}
        description={t('launch.ipus.hint')}
        inputWrapperOrder={['label', 'input', 'description', 'error']}
        data={(system?.allowed_sizes ?? []).map(String)}
        value={place ? String(place.ipus) : null}
        onChange={(size) => onChange({ ...form, ipus: Number(size) })}
        allowDeselect={false}
      />
    </Group>
  );
}

/** Who holds a slice of the very system is told so: an on-demand job could wait for IPUs that are theirs already. */
function OwnSlice({ form, onChange, slices }: Pick<Props, 'form' | 'onChange' | 'slices'>) {
  const { t } = useWords();
  const format = useFormat();
  const held = slices.find((slice) => slice.state === 'active' && slice.pod.system === form.system);
  if (!held) return null;
  return (
    <Alert color="slate">
      <Text size="sm">{t('launch.slice.held', { ipus: held.ipus, until: format.clock(held.ends_at) })}</Text>
      <Button
        size="compact-sm"
        variant="default"
        mt={6}
        onClick={() => onChange({ ...form, where: 'slice', reservation: held.id })}
      >
        {t('launch.slice.use')}
      </Button>
    </Alert>
  );
}

function OnSlice({ form, onChange, slices }: Pick<Props, 'form' | 'onChange' | 'slices'>) {
  const { t } = useWords();
  const format = useFormat();
  if (slices.length === 0)
    return (
      <Text size="sm">
        {t('launch.where.none')}{' '}
        <LinkAnchor to="/pods" underline="always">
          {t('home.step.reserve')}
        </LinkAnchor>
      </Text>
    );
  const chosen = slices.find((slice) => slice.id === form.reservation);
  return (
    <>
      <Select
        label={t('launch.slice')}
        data={slices.map((slice) => ({
          value: slice.id,
          label: t('launch.slice.option', {
            name: slice.pod.name,
            ipus: slice.ipus,
            from: format.dateTime(slice.starts_at),
            to: format.clock(slice.ends_at),
          }),
        }))}
        value={form.reservation}
        onChange={(reservation) => onChange({ ...form, reservation })}
        allowDeselect={false}
      />
      {chosen?.state === 'booked' && (
        <Text size="sm" c="dimmed">
          {t('launch.slice.booked', { from: format.dateTime(chosen.starts_at) })}
        </Text>
      )}
    </>
  );
}
