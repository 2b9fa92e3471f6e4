// Model, place and settings on the left, the estimate that follows them on the right, and the button that starts the job.
import { Box, Button, Paper, Stack, Text, TextInput, Title } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useInfiniteQuery, useMutation, useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { suitesQuery, systemsQuery, zooQuery } from '~/api/queries/catalogue';
import { estimateQuery, submitJob, type EstimateRequest } from '~/api/queries/jobs';
import { modelsQuery } from '~/api/queries/models';
import { reservationsQuery } from '~/api/queries/reservations';
import { useWorkplace } from '~/api/queries/session';
import { useAllPages } from '~/api/useAllPages';
import { useWords } from '~/i18n/words';
import { Problem } from '~/api/problem';
import { ProblemNotice } from '~/shell/ProblemNotice';
import { Waiting } from '~/shell/Waiting';
import {
  chosenModel,
  estimateRequest,
  initialForm,
  jobRequest,
  placeOf,
  withModel,
  withSuite,
  type LaunchForm,
} from './form';
import { EstimateCard } from './EstimateCard';
import { ModelChoice } from './ModelChoice';
import { PlaceChoice } from './PlaceChoice';
import { PublishChoice } from './PublishChoice';
import { RunSettings } from './RunSettings';
import classes from './LaunchPage.module.css';

const route = getRouteApi('/private/launch');
const DEBOUNCE_MS = 350;

export function LaunchPage() {
  const search = route.useSearch();
  const suites = useQuery(suitesQuery);
  if (search.suite && !suites.data && !suites.error) return <Waiting lines={8} />;
  return <LaunchForm key={`${search.model}:${search.reservation}:${search.suite}`} />;
}

function useFirstForm(): LaunchForm {
  const search = route.useSearch();
  const { data: suites } = useQuery(suitesQuery);
  const suite = suites?.find((each) => each.slug === search.suite);
  const form: LaunchForm = {
    ...withModel(initialForm, search.model ?? suite?.rules.model ?? null),
    where: search.reservation ? 'slice' : 'demand',
    reservation: search.reservation ?? null,
  };
  return suite ? withSuite(form, suite) : form;
}

function LaunchForm() {
  const { t } = useWords();
  const first = useFirstForm();
  const [form, setForm] = useState(first);
  const [now] = useState(() => new Date().toISOString());
  const [intention] = useState(() => crypto.randomUUID());
  const navigate = useNavigate();
  const project = useWorkplace()?.project.id ?? '';
  const modelPages = useInfiniteQuery(modelsQuery(project));
  const models = useAllPages(modelPages);
  const zoo = useQuery(zooQuery).data;
  const systems = useQuery(systemsQuery).data;
  const reservations = useAllPages(useInfiniteQuery(reservationsQuery(project, now)));
  const slices = useMemo(
    () => reservations?.filter((r) => r.state === 'booked' || r.state === 'active') ?? [],
    [reservations],
  );
  const chosen = chosenModel(form.model, models ?? [], zoo ?? []);
  const place = placeOf(form, systems ?? [], slices);
  const request = estimateRequest(form, chosen, place, project);
  const question = JSON.stringify(request);
  const [settled] = useDebouncedValue(question, DEBOUNCE_MS);
  const asked = JSON.parse(settled) as EstimateRequest | null;
  const estimate = useQuery({ ...estimateQuery(asked), placeholderData: keepPreviousData });
  const launch = useMutation({
    mutationFn: () => {
      if (!request) throw new Problem({ status: 0, code: 'request.invalid' });
      return submitJob(jobRequest(form, request), `${intention}:${hash(JSON.stringify(jobRequest(form, request)))}`);
    },
    onSuccess: (job) => navigate({ to: '/jobs/$id', params: { id: job.id } }),
  });
  if (!models && modelPages.error) return <ProblemNotice problem={modelPages.error} />;
  if (!models || !zoo || !systems) return <Waiting lines={8} />;
  const task = chosen && !chosen.trainable ? 'infer' : form.config.task;
  return (
    <Stack>
      <div>
        <Title order={1}>{t('launch.title')}</Title>
        <Text c="dimmed">{t('launch.lead')}</Text>
      </div>
      <form
        className={classes.columns}
        onSubmit={(event) => {
          event.preventDefault();
          launch.mutate();
        }}
      >
        <Stack gap="md" miw={0}>
          <Paper withBorder p="lg">
            <ModelChoice form={form} onChange={setForm} models={models} zoo={zoo} chosen={chosen} />
          </Paper>
          <Paper withBorder p="lg">
            <PlaceChoice form={form} onChange={setForm} systems={systems} slices={slices} place={place} />
          </Paper>
          <Paper withBorder p="lg">
            <RunSettings
              form={form}
              onChange={setForm}
              chosen={chosen}
              task={task}
              problem={launch.error ?? estimate.error}
            />
          </Paper>
          <Paper withBorder p="lg">
            <Stack>
              <TextInput
                label={t('launch.name')}
                description={t('common.optional')}
                maxLength={100}
                value={form.name}
                onChange={(e) => setForm({ ...form, name: e.currentTarget.value })}
              />
              <PublishChoice form={form} onChange={setForm} task={task} />
            </Stack>
          </Paper>
        </Stack>
        <Box className={classes.side}>
          <Stack>
            <EstimateCard
              request={request}
              row={estimate.data}
              problem={estimate.error}
              working={request !== null && (estimate.isFetching || settled !== question)}
              onSlice={place?.reservation !== undefined}
            />
            <ProblemNotice problem={launch.error} />
            <Button type="submit" size="md" disabled={!request} loading={launch.isPending}>
              {t('launch.submit')}
            </Button>
          </Stack>
        </Box>
      </form>
    </Stack>
  );
}

/** Short and stable; equal requests share an idempotency key, changed ones get another. */
function hash(text: string): string {
  let value = 5381;
  for (let i = 0; i < text.length; i += 1) value = ((value * 33) ^ text.charCodeAt(i)) >>> 0;
  return value.toString(36);
}
