// What the chosen tile holds: bytes by category against what a tile has, and how it spends a step.
import { Text, useComputedColorScheme } from '@mantine/core';
import type { Report } from '~/api/report';
import { useFormat } from '~/format/useFormat';
import { useWords } from '~/i18n/words';
import { SERIES } from '~/theme/palette';
import type { Layer } from './layers';
import classes from './Report.module.css';

interface Props {
  report: Report;
  tile: number;
  layers: Layer[];
  nameOf: (layer: Layer) => string;
}

export function TileDetail({ report, tile, layers, nameOf }: Props) {
  const { t } = useWords();
  const format = useFormat();
  const capacity = report.memory.bytes_per_tile;
  const used = layers[0]?.values[tile] ?? 0;
  const memory = layers.filter((layer) => layer.id.startsWith('memory.'));
  const cycles = layers.filter((layer) => layer.unit === 'cycles');
  const spent = cycles.reduce((sum, layer) => sum + (layer.values[tile] ?? 0), 0);
  return (
    <div aria-live="polite" data-testid="tile">
      <Text fw={650}>{t('report.tile', { tile })}</Text>
      <Text size="sm" className="number" c={used > capacity ? 'brick' : undefined} mb={6}>
        {t('report.tile.used', { used: format.bytes(used), total: format.bytes(capacity) })}
      </Text>
      <Parts layers={memory} tile={tile} whole={Math.max(capacity, used)} nameOf={nameOf} show={format.bytes} />
      <Text size="sm" className="number" mt="md" mb={6}>
        {t('report.cycles', { value: format.count(spent) })}
      </Text>
      <Parts layers={cycles} tile={tile} whole={spent} nameOf={nameOf} show={format.count} />
    </div>
  );
}

interface PartsProps {
  layers: Layer[];
  tile: number;
  whole: number;
  nameOf: (layer: Layer) => string;
  show: (value: number) => string;
}

function Parts({ layers, tile, whole, nameOf, show }: PartsProps) {
  const scheme = useComputedColorScheme('light');
  const parts = layers
    .map((layer, i) => ({
      name: nameOf(layer),
      value: layer.values[tile] ?? 0,
      colour: SERIES[scheme][i % SERIES[scheme].length],
    }))
    .filter((part) => part.value > 0);
  return (
    <>
      <div className={classes.stack} aria-hidden="true">
        {parts.map((part) => (
          <i
            key={part.name}
            style={{ width: `${(part.value / Math.max(1, whole)) * 100}%`, background: part.colour }}
          />
        ))}
      </div>
      <ul className={classes.list}>
        {parts.map((part) => (
          <li key={part.name}>
            <i className={classes.swatch} style={{ background: part.colour }} />
            <span>{part.name}</span>
            <span>{show(part.value)}</span>
          </li>
        ))}
      </ul>
    </>
  );
}
