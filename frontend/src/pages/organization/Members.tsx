// Members and their roles. Owners and administrators change them; the portal has the last word on who may.
import { Button, Group, NativeSelect, Paper, Stack, Table, Text, TextInput, Title } from '@mantine/core';
import { modals } from '@mantine/modals';
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import { addMember, changeRole, membersQuery, removeMember } from '~/api/queries/organizations';
import type { Member, Organization, Role } from '~/api/types';
import { useFormat } from '~/format/useFormat';
import { useWords } from '~/i18n/words';
import { fieldError, ProblemNotice } from '~/shell/ProblemNotice';
import { Waiting } from '~/shell/Waiting';
import { WideTable } from '~/shell/WideTable';

const ROLES: Role[] = ['owner', 'admin', 'member', 'viewer'];

function useRoles() {
  const { t } = useWords();
  return ROLES.map((role) => ({ value: role, label: t(`role.${role}`) }));
}

export function Members({ organization, me }: { organization: Organization; me: string }) {
  const { t } = useWords();
  const list = useInfiniteQuery(membersQuery(organization.id));
  const rows = list.data?.pages.flatMap((page) => page.results);
  const manages = organization.role === 'owner' || organization.role === 'admin';
  return (
    <section>
      <Title order={2} mb="sm">
        {t('org.members')}
      </Title>
      <ProblemNotice problem={list.error} />
      {!rows && !list.error && <Waiting />}
      {rows && (
        <Stack>
          <WideTable minWidth={620} label={t('org.members')}>
            <Table>
              <Table.Thead>
                <Table.Tr>
                  <Table.Th>{t('org.member')}</Table.Th>
                  <Table.Th>{t('field.email')}</Table.Th>
                  <Table.Th>{t('org.joined')}</Table.Th>
                  <Table.Th>{t('org.roles')}</Table.Th>
                  <Table.Th>{t('common.actions')}</Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {rows.map((member) => (
                  <Row key={member.user_id} member={member} organization={organization} manages={manages} me={me} />
                ))}
              </Table.Tbody>
            </Table>
          </WideTable>
          {list.hasNextPage && (
            <Button variant="default" onClick={() => void list.fetchNextPage()} style={{ alignSelf: 'flex-start' }}>
              {t('common.more')}
            </Button>
          )}
          {manages && <AddMember organization={organization} />}
        </Stack>
      )}
    </section>
  );
}

interface RowProps {
  member: Member;
  organization: Organization;
  manages: boolean;
  me: string;
}

function Row({ member, organization, manages, me }: RowProps) {
  const { t } = useWords();
  const format = useFormat();
  const roles = useRoles();
  const client = useQueryClient();
  const refresh = () => {
    void client.invalidateQueries({ queryKey: ['members', organization.id] });
    if (member.user_id === me) void client.invalidateQueries({ queryKey: ['session'] });
  };
  const changing = useMutation({
    mutationFn: (role: Role) => changeRole(organization.id, member.user_id, role),
    onSettled: refresh,
  });
  const removing = useMutation({ mutationFn: () => removeMember(organization.id, member.user_id), onSettled: refresh });
  const name = member.name || member.email;
  const ask = () =>
    modals.openConfirmModal({
      title: t('org.remove.title', { name }),
      children: <Text size="sm">{t('org.remove.text')}</Text>,
      labels: { confirm: t('org.remove'), cancel: t('common.cancel') },
      confirmProps: { color: 'brick' },
      onConfirm: () => removing.mutate(),
    });
  return (
    <Table.Tr>
      <Table.Td className="long">{name}</Table.Td>
      <Table.Td className="long">{member.email}</Table.Td>
      <Table.Td>{format.relative(member.joined_at)}</Table.Td>
      <Table.Td>
        {manages ? (
          <NativeSelect
            size="xs"
            aria-label={t('org.role_of', { name })}
            data={roles}
            value={member.role}
            disabled={changing.isPending}
            onChange={(event) => changing.mutate(event.currentTarget.value as Role)}
          />
        ) : (
          t(`role.${member.role}`)
        )}
        <ProblemNotice problem={changing.error} />
      </Table.Td>
      <Table.Td>
        {(manages || member.user_id === me) && (
          <Button size="compact-sm" variant="subtle" color="brick" onClick={ask} loading={removing.isPending}>
            {t('org.remove')}
          </Button>
        )}
        <ProblemNotice problem={removing.error} />
      </Table.Td>
    </Table.Tr>
  );
}

function AddMember({ organization }: { organization: Organization }) {
  const words = useWords();
  const { t } = words;
  const client = useQueryClient();
  const roles = useRoles();
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<Role>('member');
  const adding = useMutation({
    mutationFn: () => addMember(organization.id, email, role),
    onSuccess: () => {
      setEmail('');
      return client.invalidateQueries({ queryKey: ['members', organization.id] });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    adding.mutate();
  };
  return (
    <Paper withBorder p="md" component="form" onSubmit={submit}>
      <Text fw={600} mb="xs">
        {t('org.add.title')}
      </Text>
      <Group align="flex-end">
        <TextInput
          type="email"
          required
          label={t('field.email')}
          placeholder={t('org.add.hint')}
          value={email}
          onChange={(event) => setEmail(event.currentTarget.value)}
          error={fieldError(adding.error, 'email', words)}
          style={{ flex: 1, minWidth: 200 }}
        />
        <NativeSelect
          label={t('org.roles')}
          data={roles}
          value={role}
          onChange={(event) => setRole(event.currentTarget.value as Role)}
        />
        <Button type="submit" loading={adding.isPending}>
          {t('org.add')}
        </Button>
      </Group>
      <ProblemNotice problem={adding.error} />
    </Paper>
  );
}
