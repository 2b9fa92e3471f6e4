// API tokens: making one, seeing it once, and taking it back.
import { Badge, Button, Code, Group, Stack, Table, Text, Title } from '@mantine/core';
import { modals } from '@mantine/modals';
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { revokeToken, tokensQuery } from '~/api/queries/organizations';
import { useSession } from '~/api/queries/session';
import { revokeAllTokens } from '~/api/queries/trust';
import type { Token } from '~/api/types';
import { useFormat } from '~/format/useFormat';
import { useWords } from '~/i18n/words';
import { EmptyState } from '~/shell/EmptyState';
import { ProblemNotice } from '~/shell/ProblemNotice';
import { Waiting } from '~/shell/Waiting';
import { WideTable } from '~/shell/WideTable';
import { NewToken } from './NewToken';
import { Rotate } from './Rotate';

export function TokensPage() {
  const { t } = useWords();
  const [open, setOpen] = useState(false);
  const list = useInfiniteQuery(tokensQuery);
  const rows = list.data?.pages.flatMap((page) => page.results);
  return (
    <Stack>
      <Group justify="space-between" align="flex-end">
        <div>
          <Title order={1}>{t('tokens.title')}</Title>
          <Text c="dimmed">{t('tokens.lead')}</Text>
        </div>
        <Group gap="xs">
          {rows && rows.length > 0 && <RevokeAll />}
          <Button onClick={() => setOpen(true)}>{t('tokens.new')}</Button>
        </Group>
      </Group>
      {open && <NewToken onClose={() => setOpen(false)} />}
      <ProblemNotice problem={list.error} />
      {!rows && !list.error && <Waiting />}
      {rows?.length === 0 && <EmptyState text={t('tokens.empty')} />}
      {rows && rows.length > 0 && <TokenTable rows={rows} />}
      {list.hasNextPage && (
        <Button variant="default" onClick={() => void list.fetchNextPage()} style={{ alignSelf: 'flex-start' }}>
          {t('common.more')}
        </Button>
      )}
    </Stack>
  );
}

function RevokeAll() {
  const { t } = useWords();
  const client = useQueryClient();
  const revoking = useMutation({
    mutationFn: revokeAllTokens,
    onSuccess: () => client.invalidateQueries({ queryKey: ['tokens'] }),
  });
  const ask = () =>
    modals.openConfirmModal({
      title: t('tokens.revoke_all.title'),
      children: <Text size="sm">{t('tokens.revoke.text')}</Text>,
      labels: { confirm: t('tokens.revoke_all'), cancel: t('common.cancel') },
      confirmProps: { color: 'brick' },
      onConfirm: () => revoking.mutate(),
    });
  return (
    <Button variant="subtle" color="brick" onClick={ask} loading={revoking.isPending}>
      {t('tokens.revoke_all')}
    </Button>
  );
}

function TokenTable({ rows }: { rows: Token[] }) {
  const { t } = useWords();
  return (
    <WideTable minWidth={760} label={t('tokens.title')}>
      <Table className="number">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('tokens.name')}</Table.Th>
            <Table.Th>{t('tokens.prefix')}</Table.Th>
            <Table.Th>{t('common.state')}</Table.Th>
            <Table.Th>{t('tokens.scopes')}</Table.Th>
            <Table.Th>{t('tokens.expiry')}</Table.Th>
            <Table.Th>{t('tokens.last_used')}</Table.Th>
            <Table.Th>{t('common.actions')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((token) => (
            <Row key={token.id} token={token} />
          ))}
        </Table.Tbody>
      </Table>
    </WideTable>
  );
}

function Row({ token }: { token: Token }) {
  const { t } = useWords();
  const format = useFormat();
  const client = useQueryClient();
  const [now] = useState(() => Date.now());
  const me = useSession().data?.user?.id;
  const revoking = useMutation({
    mutationFn: () => revokeToken(token.id),
    onSuccess: () => client.invalidateQueries({ queryKey: ['tokens'] }),
  });
  const state = token.revoked_at ? 'revoked' : Date.parse(token.expires_at) < now ? 'expired' : 'active';
  const ask = () =>
    modals.openConfirmModal({
      title: t('tokens.revoke.title', { name: token.name }),
      children: <Text size="sm">{t('tokens.revoke.text')}</Text>,
      labels: { confirm: t('tokens.revoke'), cancel: t('common.cancel') },
      confirmProps: { color: 'brick' },
      onConfirm: () => revoking.mutate(),
    });
  return (
    <Table.Tr>
      <Table.Td className="long">{token.name}</Table.Td>
      <Table.Td>
        <Code>{token.prefix}…</Code>
      </Table.Td>
      <Table.Td>
        <Badge variant="light" color={state === 'active' ? 'pine' : 'gray'}>
          {t(`tokens.${state}`)}
        </Badge>
      </Table.Td>
      <Table.Td maw={260}>
        <Text size="xs" ff="monospace">
          {token.scopes.join(' ')}
        </Text>
        {token.networks.length > 0 && (
          <Text size="xs" ff="monospace" c="dimmed">
            {token.networks.join(' ')}
          </Text>
        )}
      </Table.Td>
      <Table.Td>{format.dateTime(token.expires_at)}</Table.Td>
      <Table.Td>
        {token.last_used_at ? format.relative(token.last_used_at) : t('tokens.never')}
        {token.last_used_address && (
          <Text size="xs" c="dimmed">
            {t('tokens.from', { address: token.last_used_address })}
          </Text>
        )}
      </Table.Td>
      <Table.Td>
        {state === 'active' && !token.replaced_by_id && token.person.id === me && <Rotate token={token} />}
        {state === 'active' && (
          <Button size="compact-sm" variant="subtle" color="brick" onClick={ask} loading={revoking.isPending}>
            {t('tokens.revoke')}
          </Button>
        )}
        <ProblemNotice problem={revoking.error} />
      </Table.Td>
    </Table.Tr>
  );
}
