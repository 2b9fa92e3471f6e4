// One of the reader's organizations: credits, members with roles, ledger.
import { Group, Select, Stack, Title } from '@mantine/core';
import { useState } from 'react';
import { useSession } from '~/api/queries/session';
import type { Organization } from '~/api/types';
import { useFormat } from '~/format/useFormat';
import { useWords } from '~/i18n/words';
import { Figure, Figures } from '~/shell/Figure';
import { Waiting } from '~/shell/Waiting';
import { Ledger } from './Ledger';
import { Members } from './Members';

export function OrganizationPage() {
  const { t } = useWords();
  const { data: session } = useSession();
  const [id, setId] = useState<string | null>(null);
  const organizations = session?.organizations ?? [];
  const chosen = organizations.find((each) => each.id === id) ?? organizations[0];
  if (!chosen) return <Waiting />;
  const label = (each: Organization) => (each.is_personal ? `${each.name} (${t('org.personal')})` : each.name);
  return (
    <Stack gap="xl">
      <Group justify="space-between" align="flex-end">
        <Title order={1}>{chosen.name}</Title>
        {organizations.length > 1 && (
          <Select
            label={t('org.choose')}
            data={organizations.map((each) => ({ value: each.id, label: label(each) }))}
            value={chosen.id}
            onChange={setId}
            allowDeselect={false}
          />
        )}
      </Group>
      <Overview organization={chosen} />
      <Members key={`members-${chosen.id}`} organization={chosen} me={session?.user?.id ?? ''} />
      <Ledger key={`ledger-${chosen.id}`} organization={chosen} />
    </Stack>
  );
}

function Overview({ organization }: { organization: Organization }) {
  const { t } = useWords();
  const format = useFormat();
  return (
    <Figures>
      <Figure label={t('org.balance')} value={format.credits(organization.balance_microcredits)} />
      <Figure label={t('org.role')} value={t(`role.${organization.role}`)} note={t(`role.hint.${organization.role}`)} />
      <Figure label={t('org.projects')} value={organization.projects.map((project) => project.name).join(', ')} />
    </Figures>
  );
}
