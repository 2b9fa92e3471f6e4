// Device login: a program shows a code, its person types it here, sees what it asks for, and lets it in or not.
import { Alert, Button, Group, List, NativeSelect, Stack, Text, TextInput, Title } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { useState, type FormEvent } from 'react';
import { useSession } from '~/api/queries/session';
import { decideOnDevice, lookAtDevice, type DeviceRequest } from '~/api/queries/trust';
import { useFormat } from '~/format/useFormat';
import { useWords } from '~/i18n/words';
import { ProblemNotice } from '~/shell/ProblemNotice';
import { Narrow } from '../account/Narrow';

const DAYS = [1, 7, 30, 90] as const;

export function DevicePage() {
  const { t } = useWords();
  const search = useSearch({ from: '/private/device' });
  const [code, setCode] = useState(search.code ?? '');
  const looking = useMutation({ mutationFn: () => lookAtDevice(code) });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    looking.mutate();
  };
  return (
    <Narrow>
      <Title order={1}>{t('device.title')}</Title>
      {looking.data ? (
        <Decision code={code} request={looking.data} />
      ) : (
        <Stack component="form" onSubmit={submit}>
          <Text c="dimmed">{t('device.lead')}</Text>
          <ProblemNotice problem={looking.error} />
          <TextInput
            label={t('device.code')}
            required
            maxLength={12}
            autoComplete="off"
            spellCheck={false}
            value={code}
            onChange={(event) => setCode(event.currentTarget.value.toUpperCase())}
            styles={{ input: { fontFamily: 'monospace', letterSpacing: '0.15em' } }}
          />
          <Button type="submit" loading={looking.isPending}>
            {t('device.look')}
          </Button>
        </Stack>
      )}
    </Narrow>
  );
}

function Decision({ code, request }: { code: string; request: DeviceRequest }) {
  const { t, maybe } = useWords();
  const format = useFormat();
  const organizations = useSession().data?.organizations ?? [];
  const [chosen, setChosen] = useState('');
  const [days, setDays] = useState(30);
  const organization = chosen || organizations[0]?.id || '';
  const deciding = useMutation({
    mutationFn: (approve: boolean) =>
      decideOnDevice({ user_code: code, approve, organization_id: organization, expires_in_days: days }),
  });
  if (deciding.isSuccess)
    return (
      <Alert color={deciding.variables ? 'pine' : 'brass'}>
        {t(deciding.variables ? 'device.approved' : 'device.denied')}
      </Alert>
    );
  return (
    <Stack>
      <Text>{t('device.asks', { client: request.client })}</Text>
      <Text size="sm" c="dimmed">
        {t('device.from', { address: request.address ?? '?', time: format.dateTime(request.created_at) })}
      </Text>
      <List size="sm">
        {request.scopes.map((scope) => (
          <List.Item key={scope}>{maybe(`scope.${scope}`) ?? scope}</List.Item>
        ))}
      </List>
      <Alert color="brass">{t('device.warning')}</Alert>
      <Group grow>
        <NativeSelect
          label={t('tokens.organization')}
          value={organization}
          onChange={(event) => setChosen(event.currentTarget.value)}
          data={organizations.map(({ id, name }) => ({ value: id, label: name }))}
        />
        <NativeSelect
          label={t('tokens.expires')}
          value={String(days)}
          onChange={(event) => setDays(Number(event.currentTarget.value))}
          data={DAYS.map((n) => ({ value: String(n), label: t('tokens.days', { n }) }))}
        />
      </Group>
      <ProblemNotice problem={deciding.error} />
      <Group grow>
        <Button variant="default" onClick={() => deciding.mutate(false)} disabled={deciding.isPending}>
          {t('device.deny')}
        </Button>
        <Button onClick={() => deciding.mutate(true)} loading={deciding.isPending}>
          {t('device.approve')}
        </Button>
      </Group>
    </Stack>
  );
}
