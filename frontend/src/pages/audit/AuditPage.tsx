// The audit log: an organization's for its admins, one's own log-ins, and the whole installation's for operators.
import { Button, Code, Group, NativeSelect, Stack, Table, Text, TextInput, Title } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useSession } from '~/api/queries/session';
import { auditQuery, platformAuditQuery, type AuditEntry, type AuditFilter } from '~/api/queries/trust';
import { useFormat } from '~/format/useFormat';
import { useWords } from '~/i18n/words';
import { EmptyState } from '~/shell/EmptyState';
import { ProblemNotice } from '~/shell/ProblemNotice';
import { Waiting } from '~/shell/Waiting';
import { WideTable } from '~/shell/WideTable';

const OWN = 'own';
const PLATFORM = 'platform';
const NOUNS = [
  'session', 'password', 'email', 'factor', 'organization', 'member', 'token', 'token_policy', 'device', 'credits',
  'model', 'job', 'reservation',
] as const; // prettier-ignore
const DAY = 86_400_000;
const SPANS = [1, 7, 30, 365] as const;

export function AuditPage() {
  const { t } = useWords();
  const { data: session } = useSession();
  const [where, setWhere] = useState('');
  const [noun, setNoun] = useState('');
  const [target, setTarget] = useState('');
  const [days, setDays] = useState(0);
  const [opened] = useState(() => Date.now());
  if (!session) return <Waiting />;
  const governed = session.organizations.filter(({ role }) => role === 'owner' || role === 'admin');
  const places = [
    ...governed.map(({ id, name }) => ({ value: id, label: name })),
    { value: OWN, label: t('audit.own') },
    ...(session.user?.is_operator ? [{ value: PLATFORM, label: t('audit.platform') }] : []),
  ];
  const filter: AuditFilter = {
    ...(noun && { action: noun }),
    ...(target.trim() && { target_id: target.trim() }),
    ...(days && { since: new Date(opened - days * DAY).toISOString() }),
  };
  return (
    <Stack>
      <div>
        <Title order={1}>{t('audit.title')}</Title>
        <Text c="dimmed">{t('audit.lead')}</Text>
      </div>
      <Group align="flex-end">
        <NativeSelect
          label={t('audit.where')}
          data={places}
          value={where}
          onChange={(event) => setWhere(event.currentTarget.value)}
        />
        <NativeSelect
          label={t('audit.what')}
          data={[
            { value: '', label: t('audit.everything') },
            ...NOUNS.map((value) => ({ value, label: t(`audit.noun.${value}`) })),
          ]}
          value={noun}
          onChange={(event) => setNoun(event.currentTarget.value)}
        />
        <NativeSelect
          label={t('audit.when')}
          data={[
            { value: '0', label: t('audit.ever') },
            ...SPANS.map((n) => ({ value: String(n), label: t('tokens.days', { n }) })),
          ]}
          value={String(days)}
          onChange={(event) => setDays(Number(event.currentTarget.value))}
        />
        <TextInput
          label={t('audit.target')}
          value={target}
          maxLength={80}
          onChange={(event) => setTarget(event.currentTarget.value)}
        />
      </Group>
      <Entries where={where || (places[0]?.value ?? OWN)} filter={filter} />
    </Stack>
  );
}

function Entries({ where, filter }: { where: string; filter: AuditFilter }) {
  const { t } = useWords();
  const places = useInfiniteQuery({
    ...auditQuery(where === OWN || where === PLATFORM ? null : where, filter),
    enabled: where !== PLATFORM,
  });
  const platform = useInfiniteQuery({ ...platformAuditQuery(filter), enabled: where === PLATFORM });
  const list = where === PLATFORM ? platform : places;
  const rows = list.data?.pages.flatMap((page) => page.results);
  return (
    <>
      <ProblemNotice problem={list.error} />
      {!rows && !list.error && <Waiting />}
      {rows?.length === 0 && <EmptyState text={t('audit.empty')} />}
      {rows && rows.length > 0 && <EntryTable rows={rows} />}
      {list.hasNextPage && (
        <Button variant="default" onClick={() => void list.fetchNextPage()} style={{ alignSelf: 'flex-start' }}>
          {t('common.more')}
        </Button>
      )}
    </>
  );
}

function EntryTable({ rows }: { rows: AuditEntry[] }) {
  const { t } = useWords();
  return (
    <WideTable minWidth={860} label={t('audit.title')}>
      <Table className="number" verticalSpacing="xs">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('audit.when')}</Table.Th>
            <Table.Th>{t('audit.who')}</Table.Th>
            <Table.Th>{t('audit.did')}</Table.Th>
            <Table.Th>{t('audit.to')}</Table.Th>
            <Table.Th>{t('audit.change')}</Table.Th>
            <Table.Th>{t('audit.from')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((row) => (
            <Row key={row.id} row={row} />
          ))}
        </Table.Tbody>
      </Table>
    </WideTable>
  );
}

function Row({ row }: { row: AuditEntry }) {
  const { t, maybe } = useWords();
  const format = useFormat();
  return (
    <Table.Tr style={{ verticalAlign: 'top' }}>
      <Table.Td>{format.dateTime(row.at)}</Table.Td>
      <Table.Td className="long">
        {row.actor_email ?? (row.actor_id ? t('audit.gone') : t('audit.system'))}
        {row.token_id && (
          <Text size="xs" c="dimmed">
            {t('audit.by_token')}
          </Text>
        )}
      </Table.Td>
      <Table.Td>{maybe(`audit.action.${row.action}`) ?? <Code>{row.action}</Code>}</Table.Td>
      <Table.Td className="long" maw={220} title={row.target_id}>
        {row.name || row.target_id}
      </Table.Td>
      <Table.Td maw={280}>
        <Changes before={row.before as Facts} after={row.after as Facts} />
      </Table.Td>
      <Table.Td title={row.user_agent}>{row.address ?? t('common.none')}</Table.Td>
    </Table.Tr>
  );
}

type Facts = Record<string, unknown> | null;

function told(value: unknown): string {
  if (Array.isArray(value)) return value.map(told).join(' ');
  return typeof value === 'string' ? value : JSON.stringify(value);
}

const isEmpty = (value: unknown) => value === '' || value === null || (Array.isArray(value) && value.length === 0);

/** name: before → after; the names are those of the API. */
function Changes({ before, after }: { before: Facts; after: Facts }) {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  const telling = names.filter((name) => !isEmpty(before?.[name] ?? null) || !isEmpty(after?.[name] ?? null));
  return telling.map((name) => (
    <Text key={name} size="xs" ff="monospace" lang="en" style={{ overflowWrap: 'anywhere' }}>
      {name}: {before && name in before ? `${told(before[name])} → ` : ''}
      {after && name in after ? told(after[name]) : '–'}
    </Text>
  ));
}
