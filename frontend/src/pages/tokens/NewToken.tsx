// The dialogue that makes a token and shows its secret once.
import {
  Alert,
  Button,
  Checkbox,
  Code,
  CopyButton,
  Group,
  Modal,
  NativeSelect,
  SimpleGrid,
  Spoiler,
  Stack,
  Text,
  TextInput,
} from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import { createToken } from '~/api/queries/organizations';
import { useSession } from '~/api/queries/session';
import { scopesQuery, tokenPolicyQuery } from '~/api/queries/trust';
import { useWords } from '~/i18n/words';
import { fieldError, ProblemNotice } from '~/shell/ProblemNotice';

const SCOPES = [
  'jobs:read',
  'jobs:write',
  'models:read',
  'models:write',
  'pods:read',
  'reservations:read',
  'reservations:write',
  'boards:read',
  'organizations:read',
  'organizations:write',
  'audit:read',
  'tokens:read',
] as const;
/** What `podium run` needs. */
const USUAL: string[] = [
  'jobs:read',
  'jobs:write',
  'models:read',
  'models:write',
  'pods:read',
  'reservations:read',
  'organizations:read',
];
const DAYS = [7, 30, 90, 365] as const;

export function NewToken({ onClose }: { onClose: () => void }) {
  const words = useWords();
  const { t } = words;
  const client = useQueryClient();
  const organizations = useSession().data?.organizations ?? [];
  const [form, setForm] = useState({
    name: '',
    scopes: USUAL,
    days: 30,
    networks: '',
    organization: organizations[0]?.id ?? '',
  });
  const most = useQuery(tokenPolicyQuery(form.organization)).data?.most_days ?? 365;
  const making = useMutation({
    mutationFn: () =>
      createToken({
        name: form.name,
        scopes: form.scopes,
        networks: form.networks.split(/[\s,]+/).filter(Boolean),
        expires_in_days: Math.min(form.days, most),
        organization_id: form.organization,
      }),
    onSuccess: () => client.invalidateQueries({ queryKey: ['tokens'] }),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    making.mutate();
  };
  const shell = { opened: true, onClose, size: 'lg', closeButtonProps: { 'aria-label': t('common.close') } };
  if (making.data)
    return (
      <Modal {...shell} title={t('tokens.once.title')} closeOnClickOutside={false}>
        <Secret secret={making.data.token} onClose={onClose} />
      </Modal>
    );
  return (
    <Modal {...shell} title={t('tokens.new')}>
      <Stack component="form" onSubmit={submit}>
        <ProblemNotice problem={making.error} />
        <TextInput
          label={t('tokens.name')}
          description={t('tokens.name.hint')}
          required
          maxLength={80}
          value={form.name}
          onChange={(event) => setForm({ ...form, name: event.currentTarget.value })}
          error={fieldError(making.error, 'name', words)}
          data-autofocus
        />
        <Checkbox.Group
          label={t('tokens.scopes')}
          description={t('tokens.scopes.hint')}
          value={form.scopes}
          onChange={(scopes) => setForm({ ...form, scopes })}
          error={fieldError(making.error, 'scopes', words)}
        >
          <SimpleGrid cols={{ base: 1, xs: 2 }} mt="xs" verticalSpacing={6}>
            {SCOPES.map((scope) => (
              <Checkbox key={scope} value={scope} label={t(`scope.${scope}`)} description={scope} />
            ))}
          </SimpleGrid>
        </Checkbox.Group>
        <Group grow>
          <NativeSelect
            label={t('tokens.expires')}
            value={String(Math.min(form.days, most))}
            onChange={(event) => setForm({ ...form, days: Number(event.currentTarget.value) })}
            description={most < 365 ? t('tokens.most', { n: most }) : undefined}
            data={[...new Set(DAYS.map((days) => Math.min(days, most)))].map((days) => ({
              value: String(days),
              label: t('tokens.days', { n: days }),
            }))}
          />
          <NativeSelect
            label={t('tokens.organization')}
            value={form.organization}
            onChange={(event) => setForm({ ...form, organization: event.currentTarget.value })}
            data={organizations.map(({ id, name }) => ({ value: id, label: name }))}
          />
        </Group>
        <TextInput
          label={t('tokens.networks')}
          description={t('tokens.networks.hint')}
          value={form.networks}
          onChange={(event) => setForm({ ...form, networks: event.currentTarget.value })}
          error={fieldError(making.error, 'networks', words)}
        />
        <Preview organization={form.organization} scopes={form.scopes} />
        <Button type="submit" loading={making.isPending} disabled={form.scopes.length === 0}>
          {t('tokens.create')}
        </Button>
      </Stack>
    </Modal>
  );
}

/** What a token with these scopes could do, by the reader's role in the organization. */
function Preview({ organization, scopes }: { organization: string; scopes: string[] }) {
  const { t } = useWords();
  const told = useQuery(scopesQuery(organization)).data?.filter(({ scope }) => scopes.includes(scope)) ?? [];
  const useless = told.filter(({ useful }) => !useful);
  return (
    <Stack gap={6}>
      {useless.length > 0 && (
        <Alert color="brass">{t('tokens.useless', { scopes: useless.map(({ scope }) => scope).join(', ') })}</Alert>
      )}
      <Spoiler maxHeight={72} showLabel={t('common.more')} hideLabel={t('common.close')}>
        <Text size="sm" fw={500}>
          {t('tokens.preview')}
        </Text>
        {told
          .filter(({ useful }) => useful)
          .flatMap(({ operations }) => operations)
          .map((operation) => (
            <Text key={operation} size="xs" ff="monospace" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
              {operation}
            </Text>
          ))}
      </Spoiler>
    </Stack>
  );
}

export function Secret({ secret, onClose }: { secret: string; onClose: () => void }) {
  const { t } = useWords();
  return (
    <Stack>
      <Alert color="brass">{t('tokens.once.text')}</Alert>
      <Group wrap="nowrap">
        <Code block style={{ flex: 1, wordBreak: 'break-all', whiteSpace: 'pre-wrap' }} data-testid="token-secret">
          {secret}
        </Code>
        <CopyButton value={secret}>
          {({ copied, copy }) => (
            <Button variant={copied ? 'light' : 'filled'} onClick={copy}>
              {t(copied ? 'common.copied' : 'common.copy')}
            </Button>
          )}
        </CopyButton>
      </Group>
      <Text size="sm">{t('tokens.once.use')}</Text>
      <Code block>{`podium login --url ${window.location.origin} --token ${secret.slice(0, 12)}…`}</Code>
      <Button variant="default" onClick={onClose}>
        {t('common.close')}
      </Button>
    </Stack>
  );
}
