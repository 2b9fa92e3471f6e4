// How the job runs: data, batch, steps, optimiser, precision, seed; less used settings are folded.
import {
  Button,
  Collapse,
  Input,
  NumberInput,
  SegmentedControl,
  Select,
  SimpleGrid,
  Stack,
  Text,
  type NumberInputProps,
} from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { datasetsQuery } from '~/api/queries/catalogue';
import type { RunConfig } from '~/api/types';
import { useWords } from '~/i18n/words';
import { fieldError } from '~/shell/ProblemNotice';
import { FIRST_DIM, type Chosen, type LaunchForm } from './form';

interface Props {
  form: LaunchForm;
  onChange: (form: LaunchForm) => void;
  chosen: Chosen | null;
  task: RunConfig['task'];
  problem: unknown;
}

const OPTIMISERS: RunConfig['optimiser'][] = ['sgd', 'momentum', 'adam', 'adamw', 'lamb'];

export function RunSettings({ form, onChange, chosen, task, problem }: Props) {
  const words = useWords();
  const { t } = words;
  const [more, folding] = useDisclosure(false);
  const config = form.config;
  const set = (change: Partial<RunConfig>) => onChange({ ...form, config: { ...config, ...change } });
  const number = (
    field: 'batch' | 'steps' | 'learning_rate' | 'momentum' | 'seed' | 'available_memory_proportion',
    extra: Omit<NumberInputProps, 'value' | 'onChange'>,
  ) => (
    <Number
      value={config[field]}
      onChange={(value) => set({ [field]: value })}
      error={fieldError(problem, field, words)}
      {...extra}
    />
  );
  const dims = chosen?.dims ?? [];
  return (
    <Stack>
      <Text fw={650}>{t('launch.run')}</Text>
      <SimpleGrid cols={{ base: 1, xs: 2 }} verticalSpacing="sm">
        {task === 'train' && <DatasetChoice value={config.dataset} onChange={(dataset) => set({ dataset })} />}
        {number('batch', {
          label: t('launch.batch'),
          description: t('launch.batch.hint'),
          min: 1,
          max: 65536,
          allowDecimal: false,
        })}
        {number('steps', { label: t(`launch.steps.${task}`), min: 1, max: 1_000_000, allowDecimal: false })}
        {task === 'train' && (
          <>
            <Select
              label={t('launch.optimiser')}
              data={OPTIMISERS.map((value) => ({ value, label: t(`optimiser.${value}`) }))}
              value={config.optimiser}
              onChange={(value) => set({ optimiser: value as RunConfig['optimiser'] })}
              allowDeselect={false}
            />
            {number('learning_rate', {
              label: t('launch.learning_rate'),
              min: 0,
              max: 1000,
              step: 0.001,
              decimalScale: 8,
            })}
            {config.optimiser === 'momentum' &&
              number('momentum', { label: t('launch.momentum'), min: 0, max: 1, step: 0.05 })}
          </>
        )}
        <Precision
          label={t('launch.precision')}
          value={config.precision}
          onChange={(precision) => set({ precision })}
        />
        {number('seed', { label: t('launch.seed'), min: 0, max: 2 ** 31 - 1, allowDecimal: false })}
      </SimpleGrid>
      {dims.length > 0 && (
        <div>
          <Text size="sm" fw={600} mb={4}>
            {t('launch.dims')}
          </Text>
          <SimpleGrid cols={{ base: 1, xs: 2 }}>
            {dims.map((name) => (
              <Number
                key={name}
                label={name}
                min={1}
                allowDecimal={false}
                value={config.dims[name] ?? FIRST_DIM}
                onChange={(value) => set({ dims: { ...config.dims, [name]: value } })}
              />
            ))}
          </SimpleGrid>
        </div>
      )}
      <Button
        variant="subtle"
        size="compact-sm"
        onClick={folding.toggle}
        aria-expanded={more}
        style={{ alignSelf: 'flex-start' }}
      >
        {t('launch.more')}
      </Button>
      <Collapse expanded={more}>
        <SimpleGrid cols={{ base: 1, xs: 2 }}>
          <Precision
            label={t('launch.partials')}
            hint={t('launch.partials.hint')}
            value={config.partials}
            onChange={(partials) => set({ partials })}
          />
          {number('available_memory_proportion', {
            label: t('launch.amp'),
            description: t('launch.amp.hint'),
            min: 0.01,
            max: 1,
            step: 0.05,
          })}
        </SimpleGrid>
      </Collapse>
    </Stack>
  );
}

/** Mantine gives text while a number is being typed; only whole numbers reach the form. */
function Number({
  value,
  onChange,
  ...rest
}: Omit<NumberInputProps, 'value' | 'onChange'> & { value: number; onChange: (value: number) => void }) {
  return (
    <NumberInput
      {...rest}
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      clampBehavior="blur"
      value={value}
      onChange={(next) => typeof next === 'number' && onChange(next)}
    />
  );
}

function DatasetChoice({
  value,
  onChange,
}: {
  value: RunConfig['dataset'];
  onChange: (value: RunConfig['dataset']) => void;
}) {
  const { t } = useWords();
  const { data } = useQuery(datasetsQuery);
  const options = (data ?? []).map(({ id }) => ({ value: id, label: t(`dataset.${id}.name`) }));
  return (
    <Select
      label={t('launch.dataset')}
      description={t(`dataset.${value}.text`)}
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      data={options}
      value={value}
      onChange={(next) => onChange(next as RunConfig['dataset'])}
      allowDeselect={false}
    />
  );
}

type PrecisionValue = RunConfig['precision'];

function Precision({
  label,
  hint,
  value,
  onChange,
}: {
  label: string;
  hint?: string;
  value: PrecisionValue;
  onChange: (value: PrecisionValue) => void;
}) {
  return (
    <Input.Wrapper
      label={label}
      labelElement="div"
      description={hint}
      inputWrapperOrder={['label', 'input', 'description', 'error']}
    >
      <SegmentedControl
        fullWidth
        aria-label={label}
        value={value}
        onChange={(next) => onChange(next as PrecisionValue)}
        data={['fp32', 'fp16']}
      />
    </Input.Wrapper>
  );
}
