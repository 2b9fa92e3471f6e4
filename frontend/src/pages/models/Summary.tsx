// What the inspection found, in figures; and the tensors that go in and come out.
import { Alert, Code, SimpleGrid, Table, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Inspection, Model, TensorSpec } from '~/api/types';
import { useFormat } from '~/format/useFormat';
import { useWords } from '~/i18n/words';
import { Figure, Figures } from '~/shell/Figure';

export function Summary({ model, summary }: { model: Model; summary: Inspection }) {
  const { t } = useWords();
  const format = useFormat();
  const opsets = Object.entries(summary.opset).map(([domain, version]) =>
    domain && domain !== 'ai.onnx' ? `${domain} ${version}` : String(version),
  );
  return (
    <section aria-label={t('models.summary')}>
      <Figures>
        <Figure
          label={t('models.parameters')}
          value={format.short(summary.parameters)}
          note={format.count(summary.parameters)}
        />
        <Figure label={t('models.weights')} value={format.bytes(summary.parameter_bytes)} />
        <Figure label={t('models.nodes')} value={format.count(summary.nodes)} />
        <Figure label={t('models.trainable')} value={t(summary.trainable ? 'common.yes' : 'common.no')} />
        <Figure label={t('models.opset')} value={opsets.join(', ')} note={`${t('models.ir')} ${summary.ir_version}`} />
        <Figure label={t('models.producer')} value={summary.producer || t('common.none')} />
      </Figures>
      <Text size="xs" c="dimmed" mt="sm">
        {t('models.sha')} <Code>{model.sha256}</Code>
      </Text>
      {summary.warnings.length > 0 && (
        <Alert color="brass" title={t('models.warnings')} mt="md">
          {summary.warnings.map((warning) => (
            <Warning key={warning.code + warning.message} {...warning} />
          ))}
        </Alert>
      )}
    </section>
  );
}

function Warning({ code, message }: { code: string; message: string }) {
  const { maybe } = useWords();
  return <Text size="sm">{maybe(`warning.${code}`) ?? message}</Text>;
}

export function Tensors({ summary }: { summary: Inspection }) {
  const { t } = useWords();
  return (
    <div>
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        <TensorTable title={t('models.inputs')} tensors={summary.inputs} />
        <TensorTable title={t('models.outputs')} tensors={summary.outputs} />
      </SimpleGrid>
      {summary.symbolic_dims.length > 0 && (
        <Text size="sm" mt="xs">
          {t('models.dims', { names: summary.symbolic_dims.join(', ') })}
        </Text>
      )}
    </div>
  );
}

function TensorTable({ title, tensors }: { title: string; tensors: TensorSpec[] }): ReactNode {
  const { t } = useWords();
  return (
    <section>
      <Title order={2} size="h3" mb={6}>
        {title}
      </Title>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('models.tensor')}</Table.Th>
            <Table.Th>{t('models.dtype')}</Table.Th>
            <Table.Th>{t('models.shape')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {tensors.map((tensor) => (
            <Table.Tr key={tensor.name}>
              <Table.Td className="long">{tensor.name}</Table.Td>
              <Table.Td>{tensor.dtype}</Table.Td>
              <Table.Td className="number">{tensor.shape.map((size) => size ?? '?').join(' × ') || '1'}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </section>
  );
}
