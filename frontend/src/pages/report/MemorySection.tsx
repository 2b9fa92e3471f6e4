// Memory over the tiles: the picture, what the chosen tile holds, what fills the worst one, and what would make it fit.
import { Button, Group, Paper, SegmentedControl, Select, Stack, Table, Text, Title } from '@mantine/core';
import { useMemo, useState } from 'react';
import type { Report } from '~/api/report';
import { TileMap } from '~/charts/TileMap';
import { spreadOf } from '~/charts/tiles';
import { useFormat } from '~/format/useFormat';
import { useWords } from '~/i18n/words';
import { Figure, Figures } from '~/shell/Figure';
import { WideTable } from '~/shell/WideTable';
import { layersOf, type Layer } from './layers';
import { LayerTable } from './LayerTable';
import { MapScale } from './MapScale';
import { Remedies } from './Remedies';
import { TileDetail } from './TileDetail';
import classes from './Report.module.css';

export function MemorySection({ report }: { report: Report }) {
  const { t } = useWords();
  const format = useFormat();
  const memory = report.memory;
  const worst = memory.worst_tile;
  const layers = useMemo(() => layersOf(report), [report]);
  return (
    <Stack>
      <Text c="dimmed">
        {t('report.memory.lead', { tiles: format.count(memory.tiles), bytes: format.bytes(memory.bytes_per_tile) })}
      </Text>
      <Figures>
        <Figure label={t('report.memory.total')} value={format.bytes(memory.total_bytes)} />
        <Figure label={t('report.memory.mean')} value={format.bytes(memory.total_bytes / memory.tiles)} />
        <Figure
          label={t('report.memory.worst')}
          value={t('report.tile', { tile: worst.tile })}
          note={format.bytes(worst.bytes)}
        />
        <Figure
          label={t(worst.free < 0 ? 'report.memory.lacking' : 'report.memory.free')}
          value={format.bytes(Math.abs(worst.free))}
          tone={worst.free < 0 ? 'bad' : undefined}
        />
        {memory.peak_step?.source && (
          <Figure
            label={t('report.memory.peak')}
            value={
              <Text span fz="sm">
                {memory.peak_step.source}
              </Text>
            }
          />
        )}
      </Figures>
      {memory.overflow && <Remedies overflow={memory.overflow} />}
      <Picture report={report} layers={layers} />
      <TopTensors report={report} />
    </Stack>
  );
}

function Picture({ report, layers }: { report: Report; layers: Layer[] }) {
  const { t, maybe } = useWords();
  const format = useFormat();
  const memory = report.memory;
  const [layerId, setLayerId] = useState('all');
  const [tile, setTile] = useState(memory.worst_tile.tile);
  const [asTable, setAsTable] = useState(false);
  const [scale, setScale] = useState(memory.worst_tile.free < 0 ? 'tile' : 'spread');
  const layer = layers.find((each) => each.id === layerId) ?? layers[0];
  if (!layer) return null;
  const nameOf = (each: Layer) => maybe(each.word) ?? each.id.replace(/^\w+\./, '');
  const spread = spreadOf(layer.values);
  // Against a whole tile, equal colours mean equal fill in every report; from least to most, small differences show.
  const wholeTile = layer.id === 'all' && scale === 'tile';
  const [least, limit] = wholeTile ? [0, memory.bytes_per_tile] : [spread.least, spread.most];
  const show = (value: number) =>
    layer.unit === 'bytes' ? format.bytes(value) : t('report.cycles', { value: format.count(value) });
  const options = [
    { value: 'all', label: t('report.show.all') },
    {
      group: t('report.show.group.memory'),
      items: layers.filter((l) => l.id.startsWith('memory.')).map((l) => ({ value: l.id, label: nameOf(l) })),
    },
    {
      group: t('report.show.group.cycles'),
      items: layers.filter((l) => l.unit === 'cycles').map((l) => ({ value: l.id, label: nameOf(l) })),
    },
  ];
  return (
    <Paper withBorder p="md">
      <Group justify="space-between" align="flex-end" mb="sm">
        <Select
          label={t('report.show')}
          data={options}
          value={layerId}
          onChange={(value) => value && setLayerId(String(value))}
          allowDeselect={false}
          maxDropdownHeight={360}
          w={230}
        />
        <Group gap="xs">
          {layer.id === 'all' && !asTable && (
            <SegmentedControl
              size="xs"
              aria-label={t('report.scale')}
              value={scale}
              onChange={setScale}
              data={[
                { value: 'spread', label: t('report.scale.spread') },
                { value: 'tile', label: t('report.scale.tile') },
              ]}
            />
          )}
          <Button variant="default" size="compact-sm" onClick={() => setTile(memory.worst_tile.tile)}>
            {t('report.map.worst')}
          </Button>
          <Button variant="subtle" size="compact-sm" onClick={() => setAsTable(!asTable)}>
            {t(asTable ? 'common.picture' : 'common.table')}
          </Button>
        </Group>
      </Group>
      {asTable ? (
        <LayerTable layers={layers} nameOf={nameOf} />
      ) : (
        <div className={classes.picture}>
          <div>
            <TileMap
              values={layer.values}
              limit={limit}
              least={least}
              selected={tile}
              onSelect={setTile}
              label={t('report.map.label', { tiles: memory.tiles, name: nameOf(layer) })}
            />
            <MapScale least={show(least)} most={show(limit)} over={spread.most > limit} />
          </div>
          <TileDetail report={report} tile={tile} layers={layers} nameOf={nameOf} />
        </div>
      )}
    </Paper>
  );
}

function TopTensors({ report }: { report: Report }) {
  const { t, maybe } = useWords();
  const format = useFormat();
  const worst = report.memory.worst_tile;
  if (worst.top_tensors.length === 0) return null;
  return (
    <Paper withBorder p="md">
      <Title order={3} mb="xs">
        {t('report.tensors', { tile: worst.tile })}
      </Title>
      <WideTable minWidth={520} label={t('report.tensors', { tile: worst.tile })}>
        <Table className="number">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t('report.tensor')}</Table.Th>
              <Table.Th>{t('report.source')}</Table.Th>
              <Table.Th>{t('report.table.category')}</Table.Th>
              <Table.Th ta="right">{t('report.bytes')}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {worst.top_tensors.map((tensor, i) => (
              <Table.Tr key={i}>
                <Table.Td className="long">{tensor.name || t('common.none')}</Table.Td>
                <Table.Td className="long">{tensor.source || t('common.none')}</Table.Td>
                <Table.Td>{maybe(`category.${tensor.category}`) ?? tensor.category}</Table.Td>
                <Table.Td ta="right">{format.bytes(tensor.bytes)}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </WideTable>
    </Paper>
  );
}
